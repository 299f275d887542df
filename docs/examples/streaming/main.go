package main

import (
	"bufio"
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
	"stream": true
}`

type event struct {
	Choices []struct {
		Delta struct{ Content string }
	}
	Error *struct{ Message string }
}

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
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20) // an event is one line
	isComplete := false
	for lines.Scan() {
		line := lines.Text()
		if !strings.HasPrefix(line, "data: ") {
			continue // an empty line, or a comment that keeps the connection open
		}
		data := strings.TrimPrefix(line, "data: ")
		if data == "[DONE]" {
			isComplete = true
			break
		}
		var event event
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			log.Fatal(err)
		}
		if event.Error != nil {
			log.Fatal(event.Error.Message)
		}
		for _, choice := range event.Choices {
			fmt.Print(choice.Delta.Content)
		}
	}
	fmt.Println()
	if !isComplete {
		log.Fatal("There was no [DONE]: the answer is not complete. ", lines.Err())
	}
}
