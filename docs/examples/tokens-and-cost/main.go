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
	"messages": [{"role": "user", "content": "What is a reentrancy attack?"}]
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
			Message struct{ Content string }
		}
		Usage struct {
			PromptTokens     int    `json:"prompt_tokens"`
			CompletionTokens int    `json:"completion_tokens"`
			CostUSD          string `json:"cost_usd"` // use math/big.Rat to add prices up
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	usage := answer.Usage
	fmt.Println(answer.Choices[0].Message.Content)
	fmt.Printf("%d + %d tokens, ", usage.PromptTokens, usage.CompletionTokens)
	fmt.Println(usage.CostUSD, "US dollars")
}
