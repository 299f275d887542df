// Usage: program models | program answer PROMPT | program error | program stream PROMPT
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/go-faster/jx"
	"github.com/ogen-go/ogen/sse"

	"partner/parley"
)

const model = "vendor/model-1"

var city = map[string]jx.Raw{"type": jx.Raw(`"object"`), "properties": jx.Raw(`{"city":{"type":"string"}}`)}

type key string

func (k key) BearerAuth(context.Context, parley.OperationName) (parley.BearerAuth, error) {
	return parley.BearerAuth{Token: string(k)}, nil
}

func connect() (*parley.Client, error) {
	return parley.NewClient(os.Getenv("PARLEY_URL"), key(os.Getenv("PARLEY_KEY")))
}

func newRequest(model, prompt string) *parley.ChatCompletionRequest {
	content := parley.NewTextContentMessageContent(parley.TextContent(prompt))
	user := parley.UserMessage{Role: parley.UserMessageRoleUser, Content: content}
	message := parley.ChatMessage{OneOf: parley.NewUserMessageChatMessageSum(user)}
	return &parley.ChatCompletionRequest{Model: model, Messages: []parley.ChatMessage{message}}
}

func listModels(ctx context.Context, client *parley.Client) error {
	response, err := client.ListModels(ctx, parley.ListModelsParams{})
	if err != nil {
		return err
	}
	models, isList := response.(*parley.ModelListHeaders)
	if !isList {
		return fmt.Errorf("refused: %T", response)
	}
	for _, model := range models.Response.Data {
		fmt.Println(model.ID)
	}
	return nil
}

func answer(ctx context.Context, client *parley.Client, prompt string) error {
	function := parley.FunctionDefinition{
		Name:       "get_weather",
		Parameters: parley.NewOptNilFunctionDefinitionParameters(city),
	}
	form := parley.ResponseFormatJsonSchema{
		Type:       parley.ResponseFormatJsonSchemaTypeJSONSchema,
		JSONSchema: parley.JsonSchemaFormat{Name: "city", Schema: city},
	}
	request := newRequest(model, prompt)
	request.Tools.SetTo([]parley.Tool{{Type: parley.ToolTypeFunction, Function: function}})
	request.ResponseFormat.SetTo(
		parley.ResponseFormat{OneOf: parley.NewResponseFormatJsonSchemaResponseFormatSum(form)})
	response, err := client.CreateChatCompletion(ctx, request, parley.CreateChatCompletionParams{})
	if err != nil {
		return err
	}
	completion, isWhole := response.(*parley.ChatCompletion)
	if !isWhole {
		return fmt.Errorf("refused: %T", response)
	}
	for _, choice := range completion.Choices {
		fmt.Println(choice.FinishReason, choice.Message.Content.Or(""))
		for _, call := range choice.Message.ToolCalls {
			fmt.Println(call.Function.Name, call.Function.Arguments)
		}
	}
	return nil
}

func refusal(ctx context.Context, client *parley.Client) error {
	request := newRequest("vendor/none", "Hello")
	response, err := client.CreateChatCompletion(ctx, request, parley.CreateChatCompletionParams{})
	if err != nil {
		return err
	}
	if refused, isNotFound := response.(*parley.NotFoundHeaders); isNotFound {
		failure := refused.Response.Error
		fmt.Println(http.StatusNotFound, failure.Type, failure.Code.Value)
	}
	return nil
}

// openStream sends the request itself: the generated reader of the stream takes `[DONE]` for a broken event, and asks
// again when the connection ends.
func openStream(ctx context.Context, prompt string) (*http.Response, error) {
	request := newRequest(model, prompt)
	request.Stream.SetTo(true)
	body, err := request.MarshalJSON()
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

// readEvent reads one event. An error that ends the stream has the form of any other error.
func readEvent(data []byte) (chunk parley.ChatCompletionChunk, err error) {
	var failed parley.ErrorResponse
	if failed.UnmarshalJSON(data) == nil {
		return chunk, fmt.Errorf("stream error: %s", failed.Error.Code.Value)
	}
	return chunk, chunk.UnmarshalJSON(data)
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
	events := sse.NewDecoder(response.Body, 0, 0, "", nil)
	for {
		event, err := events.Decode()
		if errors.Is(err, io.EOF) {
			return errors.New("truncated: the stream ended without [DONE]")
		}
		if err != nil {
			return err
		}
		if event.Data == "[DONE]" {
			return nil
		}
		chunk, err := readEvent([]byte(event.Data))
		if err != nil {
			return err
		}
		printChunk(chunk)
	}
}

func printChunk(chunk parley.ChatCompletionChunk) {
	for _, choice := range chunk.Choices {
		if choice.Delta.Content.Value != "" {
			fmt.Println(choice.Delta.Content.Value)
		}
		if !choice.FinishReason.Null {
			fmt.Println(choice.FinishReason.Value)
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
