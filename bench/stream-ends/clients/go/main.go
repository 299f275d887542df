// Clients in Go: `go-openai`, `openai-go`, `net/http` and our reader, by the name of the first argument.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"example.com/measured/parley"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	sashabaranov "github.com/sashabaranov/go-openai"
)

const model = "vendor/model-1"

type read func(url string, say func(string)) error

var clients = map[string]read{"go-openai": goOpenAI, "openai-go": openAIGo, "net/http": netHTTP, "reader": reader}

func main() {
	for _, url := range os.Args[2:] {
		var text strings.Builder
		ended := "whole"
		if err := clients[os.Args[1]](url, func(piece string) {
			text.WriteString(piece)
			if strings.Contains(url, "/slow/") {
				time.Sleep(10 * time.Millisecond)
			}
		}); err != nil {
			ended = fmt.Sprintf("%T: %v", err, err)
		}
		line, _ := json.Marshal(map[string]string{"url": url, "text": text.String(), "ended": ended})
		fmt.Println(string(line))
	}
}

func goOpenAI(url string, say func(string)) error {
	config := sashabaranov.DefaultConfig("sk-measured")
	config.BaseURL = url
	stream, err := sashabaranov.NewClientWithConfig(config).CreateChatCompletionStream(context.Background(),
		sashabaranov.ChatCompletionRequest{Model: model, Messages: []sashabaranov.ChatCompletionMessage{{Role: "user", Content: "x"}}})
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for _, choice := range chunk.Choices {
			say(choice.Delta.Content)
		}
	}
}

func openAIGo(url string, say func(string)) error {
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("sk-measured"))
	stream := client.Chat.Completions.NewStreaming(context.Background(), openai.ChatCompletionNewParams{
		Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("x")}})
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			say(choice.Delta.Content)
		}
	}
	return stream.Err()
}

func post(url string) (*http.Response, error) {
	return http.Post(url+"/chat/completions", "application/json", strings.NewReader(`{"stream":true}`))
}

var content = regexp.MustCompile(`"content":"([^"]*)"`)

func netHTTP(url string, say func(string)) error {
	response, err := post(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	for _, found := range content.FindAllSubmatch(all, -1) {
		say(string(found[1]))
	}
	if strings.Contains(string(all), `"error":`) {
		say(" ERROR")
	}
	return err
}

func reader(url string, say func(string)) error {
	response, err := post(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	chunks := parley.NewReader(response.Body)
	for {
		chunk, err := chunks.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for _, choice := range chunk.Choices {
			say(choice.Delta.Content)
		}
	}
}
