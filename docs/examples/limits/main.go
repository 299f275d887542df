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
	request, err := http.NewRequest(http.MethodPost, os.Getenv("PARLEY_URL")+"/chat/completions", strings.NewReader(question))
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
		of := func(word string) string { return response.Header.Get("x-ratelimit-" + word + "-" + unit) }
		fmt.Printf("%s of %s %s left, all of them again in %s\n", of("remaining"), of("limit"), unit, of("reset"))
	}
}
