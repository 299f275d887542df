// Usage: program models | program answer PROMPT | program error | program stream PROMPT
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"partner/parley"
)

const model = "vendor/model-1"

var city = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}

func connect() *parley.APIClient {
	configuration := parley.NewConfiguration()
	configuration.Servers = parley.ServerConfigurations{{URL: os.Getenv("PARLEY_URL")}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+os.Getenv("PARLEY_KEY"))
	return parley.NewAPIClient(configuration)
}

func newRequest(model, prompt string) *parley.ChatCompletionRequest {
	message := parley.NewUserMessage("user", parley.StringAsMessageContent(&prompt))
	return parley.NewChatCompletionRequest(model, []parley.ChatMessage{parley.UserMessageAsChatMessage(message)})
}

func listModels(ctx context.Context) error {
	models, _, err := connect().ModelsAPI.ListModels(ctx).Execute()
	if err != nil {
		return err
	}
	for _, model := range models.Data {
		fmt.Println(model.Id)
	}
	return nil
}

func answer(ctx context.Context, prompt string) error {
	function := parley.NewFunctionDefinition("get_weather")
	function.Parameters = city
	form := parley.NewResponseFormatJsonSchema("json_schema", *parley.NewJsonSchemaFormat("city", city))
	request := newRequest(model, prompt)
	request.Tools = []parley.Tool{*parley.NewTool("function", *function)}
	request.SetResponseFormat(parley.ResponseFormatJsonSchemaAsResponseFormat(form))
	completion, _, err := connect().ChatAPI.CreateChatCompletion(ctx).ChatCompletionRequest(*request).Execute()
	if err != nil {
		return err
	}
	for _, choice := range completion.Choices {
		fmt.Println(choice.FinishReason, choice.Message.GetContent())
		for _, call := range choice.Message.ToolCalls {
			fmt.Println(call.Function.Name, call.Function.Arguments)
		}
	}
	return nil
}

func refusal(ctx context.Context) error {
	request := newRequest("vendor/none", "Hello")
	_, response, err := connect().ChatAPI.CreateChatCompletion(ctx).ChatCompletionRequest(*request).Execute()
	var failure *parley.GenericOpenAPIError
	if !errors.As(err, &failure) {
		return err
	}
	refused, isTyped := failure.Model().(parley.ErrorResponse)
	if !isTyped {
		return err
	}
	fmt.Println(response.StatusCode, refused.Error.Type, refused.Error.GetCode())
	return nil
}

// openStream sends the request itself, since Execute reads the whole answer before it returns.
func openStream(ctx context.Context, prompt string) (*http.Response, error) {
	request := newRequest(model, prompt)
	request.SetStream(true)
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	url := os.Getenv("PARLEY_URL") + "/v1/chat/completions"
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	post.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_KEY"))
	post.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(post)
}

func stream(ctx context.Context, prompt string) error {
	response, err := openStream(ctx, prompt)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		if !isData {
			continue // an empty line, or a keep-alive comment
		}
		if data == "[DONE]" {
			return nil
		}
		var event parley.StreamEvent
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return err
		}
		if event.StreamError != nil {
			return fmt.Errorf("stream error: %s", event.StreamError.Error.GetCode())
		}
		printChunk(event.ChatCompletionChunk)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errors.New("truncated: the stream ended without [DONE]")
}

func printChunk(chunk *parley.ChatCompletionChunk) {
	for _, choice := range chunk.Choices {
		if choice.Delta.GetContent() != "" {
			fmt.Println(choice.Delta.GetContent())
		}
		if choice.FinishReason.Get() != nil {
			fmt.Println(*choice.FinishReason.Get())
		}
	}
}

func run(word, prompt string) error {
	ctx := context.Background()
	switch word {
	case "models":
		return listModels(ctx)
	case "answer":
		return answer(ctx, prompt)
	case "error":
		return refusal(ctx)
	default:
		return stream(ctx, prompt)
	}
}

func main() {
	prompt := ""
	if len(os.Args) > 2 {
		prompt = os.Args[2]
	}
	if err := run(os.Args[1], prompt); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
