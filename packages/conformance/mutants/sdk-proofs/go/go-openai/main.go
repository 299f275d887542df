// Makes calls with go-openai: a job per line on stdin, its outcome per line on stdout.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sashabaranov/go-openai"
)

type object = map[string]any

type job struct {
	BaseURL string `json:"baseUrl"`
	Key     string `json:"key"`
	Call    struct {
		Method         string          `json:"method"`
		ID             string          `json:"id"`
		TimeoutSeconds float64         `json:"timeoutSeconds"`
		Members        json.RawMessage `json:"members"`
	} `json:"call"`
}

func main() {
	fmt.Println(`"ready"`)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var next job
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			panic(err)
		}
		outcome, err := makeCall(next)
		if err != nil {
			outcome = thrown(outcome, err)
		}
		text, _ := json.Marshal(outcome)
		fmt.Println(string(text))
	}
}

func makeCall(next job) (object, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Duration(next.Call.TimeoutSeconds*float64(time.Second)))
	defer cancel()
	config := openai.DefaultConfig(next.Key)
	config.BaseURL = next.BaseURL
	client := openai.NewClientWithConfig(config)
	switch next.Call.Method {
	case "list models":
		list, err := client.ListModels(ctx)
		if err != nil {
			return nil, err
		}
		ids := []string{}
		for _, model := range list.Models {
			ids = append(ids, model.ID)
		}
		return object{"models": ids}, nil
	case "retrieve a model":
		model, err := client.GetModel(ctx, next.Call.ID)
		if err != nil {
			return nil, err
		}
		return object{"models": []string{model.ID}}, nil
	case "chat", "stream", "tool loop":
		var request openai.ChatCompletionRequest
		if json.Unmarshal(next.Call.Members, &request) != nil {
			return nil, nil
		}
		if next.Call.Method == "stream" {
			return readStream(ctx, client, request)
		}
		answer, err := client.CreateChatCompletion(ctx, request)
		if err != nil || next.Call.Method == "chat" {
			return outcomeOf(answer, err), err
		}
		if len(answer.Choices) == 0 || len(answer.Choices[0].Message.ToolCalls) == 0 {
			return outcomeOf(answer, nil), nil
		}
		message := answer.Choices[0].Message
		result := openai.ChatCompletionMessage{Role: "tool", ToolCallID: message.ToolCalls[0].ID, Content: "Done."}
		request.Messages = append(request.Messages, message, result)
		request.ToolChoice = "auto"
		answer, err = client.CreateChatCompletion(ctx, request)
		return outcomeOf(answer, err), err
	}
	return nil, nil
}

func outcomeOf(answer openai.ChatCompletionResponse, err error) object {
	if err != nil {
		return object{}
	}
	choices := []object{}
	for _, choice := range answer.Choices {
		calls := [][]any{}
		for _, call := range choice.Message.ToolCalls {
			calls = append(calls, []any{call.Function.Name, argumentsOf(call.Function.Arguments)})
		}
		choices = append(choices, object{"text": choice.Message.Content, "finish": choice.FinishReason, "calls": calls})
	}
	return object{"choices": choices, "usage": usageOf(answer.Usage)}
}

func usageOf(usage openai.Usage) []int {
	return []int{usage.PromptTokens, usage.CompletionTokens, usage.TotalTokens}
}

func argumentsOf(text string) any {
	var given any
	if json.Unmarshal([]byte(text), &given) != nil {
		return text
	}
	return given
}

func readStream(ctx context.Context, client *openai.Client, request openai.ChatCompletionRequest) (object, error) {
	stream, err := client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	type call struct{ name, given string }
	type choice struct {
		text, finish string
		calls        []call
	}
	all := map[int]*choice{}
	var usage []int
	for {
		chunk, err := stream.Recv()
		if err == nil && chunk.Usage != nil {
			usage = usageOf(*chunk.Usage)
		}
		for _, one := range chunk.Choices {
			known := all[one.Index]
			if known == nil {
				known = &choice{}
				all[one.Index] = known
			}
			known.text += one.Delta.Content
			known.finish += string(one.FinishReason)
			for _, piece := range one.Delta.ToolCalls {
				for piece.Index != nil && len(known.calls) <= *piece.Index {
					known.calls = append(known.calls, call{})
				}
				if piece.Index != nil {
					known.calls[*piece.Index].name += piece.Function.Name
					known.calls[*piece.Index].given += piece.Function.Arguments
				}
			}
		}
		if err != nil {
			choices := []object{}
			for index := 0; index < len(all); index++ {
				if own := all[index]; own != nil {
					calls := [][]any{}
					for _, one := range own.calls {
						calls = append(calls, []any{one.name, argumentsOf(one.given)})
					}
					choices = append(choices, object{"text": own.text, "finish": own.finish, "calls": calls})
				}
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return object{"choices": choices, "usage": usage}, err
		}
	}
}

func thrown(outcome object, err error) object {
	if outcome == nil {
		outcome = object{}
	}
	outcome["throws"] = fmt.Sprintf("%T", err)
	var failed *openai.APIError
	var broken *openai.RequestError
	if errors.As(err, &failed) && failed.HTTPStatusCode != 0 {
		outcome["throws"] = fmt.Sprintf("openai.APIError (%d)", failed.HTTPStatusCode)
	} else if errors.As(err, &broken) {
		outcome["throws"] = fmt.Sprintf("openai.RequestError (%d)", broken.HTTPStatusCode)
	}
	outcome["says"] = err.Error()
	return outcome
}
