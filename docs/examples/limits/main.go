package main

import (
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
	fmt.Println(response.Status)
	for _, unit := range []string{"requests", "tokens"} {
		limit := response.Header.Get("x-ratelimit-limit-" + unit)
		remaining := response.Header.Get("x-ratelimit-remaining-" + unit)
		reset := response.Header.Get("x-ratelimit-reset-" + unit)
		fmt.Printf("%s of %s %s left, all again in %s\n", remaining, limit, unit, reset)
	}
}
