package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sashabaranov/go-openai"
	"parley.example/sdks/adapter"
)

func describe(err error) *adapter.Error {
	described := adapter.Error{Class: fmt.Sprintf("%T", err), Message: err.Error()}
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &request):
		described.Status = &request.HTTPStatusCode
	case errors.As(err, &api):
		described.Status = &api.HTTPStatusCode
		if api.Code != nil {
			described.Code = fmt.Sprint(api.Code)
		}
		if api.Param != nil {
			described.Param = *api.Param
		}
	}
	return &described
}

func toRequest(task adapter.Task) openai.ChatCompletionRequest {
	request := openai.ChatCompletionRequest{Model: task.Model, N: task.N}
	for _, message := range task.Messages {
		request.Messages = append(request.Messages, openai.ChatCompletionMessage{Role: message.Role, Content: message.Content})
	}
	for _, tool := range task.Tools {
		request.Tools = append(request.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
			Name:        tool.Function.Name,
			Description: tool.Function.Description,
			Parameters:  tool.Function.Parameters,
		}})
	}
	if task.IncludeUsage {
		request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	return request
}

func toUsage(usage openai.Usage) *adapter.Usage {
	return &adapter.Usage{PromptTokens: int64(usage.PromptTokens), CompletionTokens: int64(usage.CompletionTokens)}
}

func create(client *openai.Client, request openai.ChatCompletionRequest) (answer adapter.Answer) {
	completion, err := client.CreateChatCompletion(context.Background(), request)
	if err != nil {
		answer.Error = describe(err)
		return answer
	}
	answer.Usage = toUsage(completion.Usage)
	for index, choice := range completion.Choices {
		answer.AddText(index, choice.Message.Content)
		answer.FinishReason = string(choice.FinishReason)
		for at, call := range choice.Message.ToolCalls {
			answer.AddCall(at, call.ID, call.Function.Name, call.Function.Arguments)
		}
	}
	return answer
}

func stream(client *openai.Client, request openai.ChatCompletionRequest, task adapter.Task) (answer adapter.Answer) {
	chunks, err := client.CreateChatCompletionStream(context.Background(), request)
	if err != nil {
		answer.Error = describe(err)
		return answer
	}
	defer chunks.Close()
	for {
		chunk, err := chunks.Recv()
		if errors.Is(err, io.EOF) {
			return answer
		}
		if err != nil {
			answer.Error = describe(err)
			return answer
		}
		if chunk.Usage != nil {
			answer.Usage = toUsage(*chunk.Usage)
		}
		for _, choice := range chunk.Choices {
			answer.AddText(choice.Index, choice.Delta.Content)
			for at, call := range choice.Delta.ToolCalls {
				if call.Index != nil {
					at = *call.Index
				}
				answer.AddCall(at, call.ID, call.Function.Name, call.Function.Arguments)
			}
			if choice.Index == 0 && choice.FinishReason != "" {
				answer.FinishReason = string(choice.FinishReason)
			}
		}
		if adapter.Pause(task) {
			answer.Aborted = true
			return answer
		}
	}
}

func main() {
	adapter.Serve(func(task adapter.Task) func() adapter.Answer {
		config := openai.DefaultConfig(task.APIKey)
		config.BaseURL = task.BaseURL
		config.HTTPClient = &http.Client{Timeout: time.Duration(task.TimeoutMs) * time.Millisecond}
		client := openai.NewClientWithConfig(config)
		request := toRequest(task)
		return func() adapter.Answer {
			if task.Call == "create" {
				return create(client, request)
			}
			return stream(client, request, task)
		}
	})
}
