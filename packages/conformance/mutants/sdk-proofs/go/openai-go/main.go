// Makes calls with OpenAI's SDK for Go: a job per line on stdin, its outcome per line on stdout.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type object = map[string]any

type job struct {
	BaseURL string `json:"baseUrl"`
	Key     string `json:"key"`
	Call    struct {
		Method         string  `json:"method"`
		ID             string  `json:"id"`
		TimeoutSeconds float64 `json:"timeoutSeconds"`
		Members        object  `json:"members"`
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
	ctx := context.Background()
	limit := option.WithRequestTimeout(time.Duration(next.Call.TimeoutSeconds * float64(time.Second)))
	client := openai.NewClient(option.WithBaseURL(next.BaseURL), option.WithAPIKey(next.Key), limit)
	members := next.Call.Members
	create := func() (*openai.ChatCompletion, error) {
		return client.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{}, bodyOf(members))
	}
	switch next.Call.Method {
	case "list models":
		page, err := client.Models.List(ctx)
		if err != nil {
			return nil, err
		}
		ids := []string{}
		for _, model := range page.Data {
			ids = append(ids, model.ID)
		}
		return object{"models": ids}, nil
	case "retrieve a model":
		model, err := client.Models.Get(ctx, next.Call.ID)
		if err != nil {
			return nil, err
		}
		return object{"models": []string{model.ID}}, nil
	case "chat":
		completion, err := create()
		if err != nil {
			return nil, err
		}
		return outcomeOf(*completion), nil
	case "collect":
		members["stream"] = true
		stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{}, bodyOf(members))
		var whole openai.ChatCompletionAccumulator
		for stream.Next() {
			whole.AddChunk(stream.Current())
		}
		return outcomeOf(whole.ChatCompletion), stream.Err()
	case "tool loop":
		completion, err := create()
		if err != nil {
			return nil, err
		}
		if len(completion.Choices) == 0 || len(completion.Choices[0].Message.ToolCalls) == 0 {
			return outcomeOf(*completion), nil
		}
		message := completion.Choices[0].Message
		result := openai.ToolMessage("Done.", message.ToolCalls[0].ID)
		members["messages"] = append(members["messages"].([]any), message.ToParam(), result)
		members["tool_choice"] = "auto"
		if completion, err = create(); err != nil {
			return nil, err
		}
		return outcomeOf(*completion), nil
	}
	return nil, nil
}

func bodyOf(members object) option.RequestOption {
	body, _ := json.Marshal(members)
	return option.WithRequestBody("application/json", body)
}

func outcomeOf(completion openai.ChatCompletion) object {
	choices := []object{}
	for _, choice := range completion.Choices {
		calls := [][]any{}
		for _, call := range choice.Message.ToolCalls {
			var given any
			if json.Unmarshal([]byte(call.Function.Arguments), &given) != nil {
				given = call.Function.Arguments
			}
			calls = append(calls, []any{call.Function.Name, given})
		}
		choices = append(choices, object{"text": choice.Message.Content, "finish": choice.FinishReason, "calls": calls})
	}
	usage := completion.Usage
	return object{
		"choices": choices,
		"usage":   []int64{usage.PromptTokens, usage.CompletionTokens, usage.TotalTokens},
	}
}

func thrown(outcome object, err error) object {
	if outcome == nil {
		outcome = object{}
	}
	var failed *openai.Error
	outcome["throws"] = fmt.Sprintf("%T", err)
	if errors.As(err, &failed) {
		outcome["throws"] = fmt.Sprintf("openai.Error (%d)", failed.StatusCode)
	}
	outcome["says"] = err.Error()
	return outcome
}
