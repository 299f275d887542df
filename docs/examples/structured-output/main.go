package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

const question = `{
	"model": "vendor/model-1",
	"messages": [
		{
			"role": "user",
			"content": "The bridge is not audited, and one key can drain it."
		}
	],
	"response_format": {
		"type": "json_schema",
		"json_schema": {
			"name": "assessment",
			"schema": {
				"type": "object",
				"properties": {
					"risk": {"enum": ["low", "high"]},
					"reasons": {"type": "array", "items": {"type": "string"}}
				},
				"required": ["risk", "reasons"],
				"additionalProperties": false
			}
		}
	}
}`

func main() {
	url := os.Getenv("PARLEY_URL") + "/chat/completions"
	request, err := http.NewRequest("POST", url, strings.NewReader(question))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	var answer struct {
		Choices []struct {
			FinishReason string `json:"finish_reason"`
			Message      struct{ Content string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	choice := answer.Choices[0]
	if choice.FinishReason != "stop" {
		log.Fatal("The JSON is not complete.")
	}
	var assessment struct {
		Risk    string
		Reasons []string
	}
	if err := json.Unmarshal([]byte(choice.Message.Content), &assessment); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("The risk is %s.\n", assessment.Risk)
	for _, reason := range assessment.Reasons {
		fmt.Println(reason)
	}
}
