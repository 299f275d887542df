package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"

	"example.com/parley"
)

const question = `{
	"model": "vendor/model-1",
	"messages": [{"role": "user", "content": "What is a reentrancy attack?"}],
	"stream": true
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
	reader := parley.NewReader(response.Body)
	for {
		chunk, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		for _, choice := range chunk.Choices {
			fmt.Print(choice.Delta.Content)
		}
	}
	fmt.Println()
}
