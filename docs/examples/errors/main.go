package main

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

const maxAttempts = 5

// post sends a request, and sends it again where that may help.
func post(body string) (*http.Response, error) {
	for attempt := 0; ; attempt++ {
		url := os.Getenv("PARLEY_URL") + "/chat/completions"
		request, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		request.Header.Set("Authorization", "Bearer "+os.Getenv("PARLEY_KEY"))
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil || !mayHelp(response) || attempt == maxAttempts-1 {
			return response, err
		}
		response.Body.Close()
		seconds := (0.5 + rand.Float64()/2) * float64(int(1)<<attempt)
		pause := time.Duration(seconds * float64(time.Second))
		if ms, err := strconv.Atoi(response.Header.Get("retry-after-ms")); err == nil {
			pause = time.Duration(ms) * time.Millisecond
		}
		time.Sleep(pause)
	}
}

func mayHelp(response *http.Response) bool {
	switch response.StatusCode {
	case 408, 429, 500, 502, 503, 504:
		return response.Header.Get("x-should-retry") != "false"
	}
	return false
}

// ask asks a question. If that fails, it prints what to do.
func ask(model string) {
	response, err := post(`{
		"model": "` + model + `",
		"messages": [{"role": "user", "content": "What is a reentrancy attack?"}]
	}`)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Choices   []struct{ Message struct{ Content string } }
		Error     struct{ Code, Message string }
		RequestID string `json:"request_id"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		fmt.Println(answer.Choices[0].Message.Content)
	case http.StatusTooManyRequests:
		fmt.Printf("Come back in %s seconds.\n", response.Header.Get("retry-after"))
	default:
		code, message := answer.Error.Code, answer.Error.Message
		fmt.Printf("%s: %s (request %s)\n", code, message, answer.RequestID)
	}
}

func main() {
	ask("vendor/model-1")
	ask("vendor/no-such-model")
}
