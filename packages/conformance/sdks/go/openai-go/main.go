package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"parley.example/sdks/adapter"
)

func describe(err error) *adapter.Error {
	described := adapter.Error{Class: fmt.Sprintf("%T", err), Message: err.Error()}
	var api *openai.Error
	if errors.As(err, &api) {
		described.Status = &api.StatusCode
		described.Code = api.Code
		described.Param = api.Param
		if api.Message != "" {
			described.Message = api.Message
		}
		if api.Response != nil {
			described.RequestID = api.Response.Header.Get("x-request-id")
		}
	}
	return &described
}

func toParams(task adapter.Task) openai.ChatCompletionNewParams {
	params := openai.ChatCompletionNewParams{Model: task.Model}
	for _, message := range task.Messages {
		switch message.Role {
		case "system":
			params.Messages = append(params.Messages, openai.SystemMessage(message.Content))
		case "assistant":
			params.Messages = append(params.Messages, openai.AssistantMessage(message.Content))
		default:
			params.Messages = append(params.Messages, openai.UserMessage(message.Content))
		}
	}
	for _, tool := range task.Tools {
		params.Tools = append(params.Tools, openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name:        tool.Function.Name,
			Description: openai.String(tool.Function.Description),
			Parameters:  tool.Function.Parameters,
		}))
	}
	if task.N > 0 {
		params.N = openai.Int(int64(task.N))
	}
	if task.IncludeUsage {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
	}
	return params
}

func toUsage(usage openai.CompletionUsage) *adapter.Usage {
	return &adapter.Usage{PromptTokens: usage.PromptTokens, CompletionTokens: usage.CompletionTokens}
}

func create(client openai.Client, params openai.ChatCompletionNewParams) (answer adapter.Answer) {
	completion, err := client.Chat.Completions.New(context.Background(), params)
	if err != nil {
		answer.Error = describe(err)
		return answer
	}
	answer.UnknownMembers = map[string]json.RawMessage{}
	for name, field := range completion.JSON.ExtraFields {
		answer.UnknownMembers[name] = json.RawMessage(field.Raw())
	}
	answer.Usage = toUsage(completion.Usage)
	for index, choice := range completion.Choices {
		answer.AddText(index, choice.Message.Content)
		answer.FinishReason = choice.FinishReason
		for at, call := range choice.Message.ToolCalls {
			answer.AddCall(at, call.ID, call.Function.Name, call.Function.Arguments)
		}
	}
	return answer
}

func stream(client openai.Client, params openai.ChatCompletionNewParams, task adapter.Task) (answer adapter.Answer) {
	chunks := client.Chat.Completions.NewStreaming(context.Background(), params)
	defer chunks.Close()
	for chunks.Next() {
		chunk := chunks.Current()
		if chunk.JSON.Usage.Valid() {
			answer.Usage = toUsage(chunk.Usage)
		}
		for _, choice := range chunk.Choices {
			answer.AddText(int(choice.Index), choice.Delta.Content)
			for _, call := range choice.Delta.ToolCalls {
				answer.AddCall(int(call.Index), call.ID, call.Function.Name, call.Function.Arguments)
			}
			if choice.Index == 0 && choice.FinishReason != "" {
				answer.FinishReason = choice.FinishReason
			}
		}
		if adapter.Pause(task) {
			answer.Aborted = true
			return answer
		}
	}
	if err := chunks.Err(); err != nil {
		answer.Error = describe(err)
	}
	return answer
}

func main() {
	adapter.Serve(func(task adapter.Task) func() adapter.Answer {
		client := openai.NewClient(
			option.WithBaseURL(task.BaseURL),
			option.WithAPIKey(task.APIKey),
			option.WithMaxRetries(task.MaxRetries),
			option.WithRequestTimeout(time.Duration(task.TimeoutMs)*time.Millisecond),
		)
		params := toParams(task)
		return func() adapter.Answer {
			if task.Call == "create" {
				return create(client, params)
			}
			return stream(client, params, task)
		}
	})
}
