// Usage: program models | program answer PROMPT | program error | program stream PROMPT
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
)

const model = "vendor/model-1"

var city = map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}

func connect() (*ClientWithResponses, error) {
	return NewClientWithResponses(os.Getenv("PARLEY_URL"), WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("authorization", "Bearer "+os.Getenv("PARLEY_KEY"))
			return nil
		}))
}

func user(prompt string) ([]ChatMessage, error) {
	var content MessageContent
	var message ChatMessage
	if err := content.FromTextContent(prompt); err != nil {
		return nil, err
	}
	err := message.FromUserMessage(UserMessage{Role: "user", Content: content})
	return []ChatMessage{message}, err
}

func listModels(ctx context.Context, client *ClientWithResponses) error {
	response, err := client.ListModelsWithResponse(ctx, nil)
	if err != nil {
		return err
	}
	if response.JSON200 == nil {
		return errors.New(response.Status())
	}
	for _, model := range response.JSON200.Data {
		fmt.Println(model.Id)
	}
	return nil
}

func answer(ctx context.Context, client *ClientWithResponses, prompt string) error {
	messages, err := user(prompt)
	if err != nil {
		return err
	}
	var form ResponseFormat
	if err := form.FromResponseFormatJsonSchema(ResponseFormatJsonSchema{
		Type:       "json_schema",
		JsonSchema: JsonSchemaFormat{Name: "city", Schema: city},
	}); err != nil {
		return err
	}
	tools := []Tool{{Type: "function", Function: FunctionDefinition{Name: "get_weather", Parameters: &city}}}
	response, err := client.CreateChatCompletionWithResponse(ctx, nil,
		ChatCompletionRequest{Model: model, Messages: messages, Tools: &tools, ResponseFormat: &form})
	if err != nil {
		return err
	}
	if response.JSON200 == nil {
		return errors.New(response.Status())
	}
	for _, choice := range response.JSON200.Choices {
		if choice.Message.Content != nil {
			fmt.Println(choice.FinishReason, *choice.Message.Content)
		}
		if choice.Message.ToolCalls != nil {
			for _, call := range *choice.Message.ToolCalls {
				fmt.Println(call.Function.Name, call.Function.Arguments)
			}
		}
	}
	return nil
}

func refusal(ctx context.Context, client *ClientWithResponses) error {
	messages, err := user("Hello")
	if err != nil {
		return err
	}
	response, err := client.CreateChatCompletionWithResponse(ctx, nil,
		ChatCompletionRequest{Model: "vendor/none", Messages: messages})
	if err != nil {
		return err
	}
	if refused := response.JSON404; refused != nil && refused.Error.Code != nil {
		fmt.Println(response.StatusCode(), refused.Error.Type, *refused.Error.Code)
	}
	return nil
}

// readEvent reads one event. A chunk always has choices; an error never has.
func readEvent(data string) (ChatCompletionChunk, error) {
	var event StreamEvent
	if err := json.Unmarshal([]byte(data), &event); err != nil {
		return ChatCompletionChunk{}, err
	}
	chunk, err := event.AsChatCompletionChunk()
	if err != nil || chunk.Choices != nil {
		return chunk, err
	}
	failure, err := event.AsStreamError()
	if err != nil || failure.Error.Code == nil {
		return chunk, errors.New("an event is neither a chunk nor an error")
	}
	return chunk, fmt.Errorf("stream error: %s", *failure.Error.Code)
}

func stream(ctx context.Context, client *ClientWithResponses, prompt string) error {
	messages, err := user(prompt)
	if err != nil {
		return err
	}
	isStream := true
	response, err := client.CreateChatCompletion(ctx, nil,
		ChatCompletionRequest{Model: model, Messages: messages, Stream: &isStream})
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
		chunk, err := readEvent(data)
		if err != nil {
			return err
		}
		printChunk(chunk)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return errors.New("truncated: the stream ended without [DONE]")
}

func printChunk(chunk ChatCompletionChunk) {
	for _, choice := range chunk.Choices {
		if choice.Delta.Content != nil && *choice.Delta.Content != "" {
			fmt.Println(*choice.Delta.Content)
		}
		if choice.FinishReason != nil {
			fmt.Println(*choice.FinishReason)
		}
	}
}

func run(word, prompt string) error {
	client, err := connect()
	if err != nil {
		return err
	}
	ctx := context.Background()
	switch word {
	case "models":
		return listModels(ctx, client)
	case "answer":
		return answer(ctx, client, prompt)
	case "error":
		return refusal(ctx, client)
	default:
		return stream(ctx, client, prompt)
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
