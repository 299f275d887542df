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
	"messages": [{"role": "user", "content": "What is a reentrancy attack?"}],
	"reasoning_effort": "low"
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
			Message struct{ Reasoning, Content string }
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	message := answer.Choices[0].Message
	fmt.Println("Reasoning:", message.Reasoning)
	fmt.Println(message.Content)
}
