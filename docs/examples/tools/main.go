package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
)

const tools = `[{
	"type": "function",
	"function": {
		"name": "get_gas_price",
		"description": "The price of gas on a chain, in gwei.",
		"strict": true,
		"parameters": {
			"type": "object",
			"properties": {"chain": {"enum": ["ethereum", "polygon"]}},
			"required": ["chain"],
			"additionalProperties": false
		}
	}
}]`

type call struct {
	ID       string                           `json:"id"`
	Type     string                           `json:"type"`
	Function struct{ Name, Arguments string } `json:"function"`
}

type choice struct {
	FinishReason string          `json:"finish_reason"`
	Message      json.RawMessage `json:"message"` // sent back as it is
}

func getGasPrice(arguments string) (string, error) {
	var wanted struct{ Chain string }
	err := json.Unmarshal([]byte(arguments), &wanted)
	return fmt.Sprintf(`{"chain": %q, "gwei": 12}`, wanted.Chain), err
}

func ask(messages []any, toolChoice string) (choice, error) {
	body, err := json.Marshal(map[string]any{
		"model":       "vendor/model-1",
		"messages":    messages,
		"tools":       json.RawMessage(tools),
		"tool_choice": toolChoice,
	})
	if err != nil {
		return choice{}, err
	}
	url := os.Getenv("PARLEY_URL") + "/chat/completions"
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return choice{}, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return choice{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return choice{}, fmt.Errorf("the service answered %s", response.Status)
	}
	var answer struct{ Choices []choice }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return choice{}, err
	}
	return answer.Choices[0], nil
}

func main() {
	messages := []any{
		map[string]string{"role": "user", "content": "What does gas cost on Ethereum?"},
	}
	// The first answer has to call a function. Later ones may.
	for toolChoice := "required"; ; toolChoice = "auto" {
		answer, err := ask(messages, toolChoice)
		if err != nil {
			log.Fatal(err)
		}
		var message struct {
			Content   string
			ToolCalls []call `json:"tool_calls"`
		}
		if err := json.Unmarshal(answer.Message, &message); err != nil {
			log.Fatal(err)
		}
		if answer.FinishReason != "tool_calls" {
			fmt.Println(message.Content)
			return
		}
		messages = append(messages, answer.Message)
		for _, call := range message.ToolCalls {
			result, err := getGasPrice(call.Function.Arguments)
			if err != nil {
				log.Fatal(err)
			}
			messages = append(messages, map[string]string{
				"role": "tool", "tool_call_id": call.ID, "content": result,
			})
		}
	}
}
