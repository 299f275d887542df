package main

import (
	"context"
	"fmt"
	"os"

	"github.com/sashabaranov/go-openai"
)

func main() {
	config := openai.DefaultConfig(os.Getenv("PARLEY_KEY"))
	config.BaseURL = os.Getenv("PARLEY_URL")
	request := openai.ChatCompletionRequest{
		Model:    "vendor/model-1",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "What is a reentrancy attack?"}},
	}
	answer, err := openai.NewClientWithConfig(config).CreateChatCompletion(context.Background(), request)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(answer.Choices[0].Message.Content)
}
