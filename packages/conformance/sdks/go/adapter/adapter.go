// Package adapter reads a task per line, has it carried out, and prints its answer as a line.
package adapter

import (
	"bufio"
	"encoding/json"
	"os"
	"sort"
	"time"
)

type Task struct {
	Task                   string    `json:"task"`
	BaseURL                string    `json:"baseUrl"`
	APIKey                 string    `json:"apiKey"`
	Call                   string    `json:"call"`
	Model                  string    `json:"model"`
	Messages               []Message `json:"messages"`
	Tools                  []Tool    `json:"tools"`
	N                      int       `json:"n"`
	IncludeUsage           bool      `json:"includeUsage"`
	MaxRetries             int       `json:"maxRetries"`
	TimeoutMs              int       `json:"timeoutMs"`
	SecondCallAfterMs      int       `json:"secondCallAfterMs"`
	PauseAfterFirstChunkMs int       `json:"pauseAfterFirstChunkMs"`
	AbortAfterFirstChunk   bool      `json:"abortAfterFirstChunk"`
}

type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type Tool struct {
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
	} `json:"function"`
}

type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type Usage struct {
	PromptTokens     int64 `json:"promptTokens"`
	CompletionTokens int64 `json:"completionTokens"`
}

type Error struct {
	Class     string `json:"class"`
	Message   string `json:"message"`
	Status    *int   `json:"status,omitempty"`
	Code      string `json:"code,omitempty"`
	Param     string `json:"param,omitempty"`
	RequestID string `json:"requestId,omitempty"`
}

type Answer struct {
	Task           string                     `json:"task"`
	Text           string                     `json:"text"`
	Texts          []string                   `json:"texts,omitempty"`
	FinishReason   string                     `json:"finishReason,omitempty"`
	ToolCalls      []Call                     `json:"toolCalls,omitempty"`
	Usage          *Usage                     `json:"usage,omitempty"`
	UnknownMembers map[string]json.RawMessage `json:"unknownMembers,omitempty"`
	Error          *Error                     `json:"error,omitempty"`
	Aborted        bool                       `json:"aborted,omitempty"`

	texts map[int]string
	calls map[int]*Call
}

// AddText adds a piece of a choice.
func (a *Answer) AddText(index int, text string) {
	if a.texts == nil {
		a.texts = map[int]string{}
	}
	a.texts[index] += text
}

// AddCall adds a piece of a tool call.
func (a *Answer) AddCall(index int, id, name, arguments string) {
	if a.calls == nil {
		a.calls = map[int]*Call{}
	}
	if a.calls[index] == nil {
		a.calls[index] = &Call{ID: id, Name: name}
	}
	a.calls[index].Arguments += arguments
}

func (a *Answer) finish(task string) {
	a.Task = task
	for index := 0; index < len(a.texts); index++ {
		a.Texts = append(a.Texts, a.texts[index])
	}
	if a.texts != nil {
		a.Text = a.texts[0]
	}
	indexes := []int{}
	for index := range a.calls {
		indexes = append(indexes, index)
	}
	sort.Ints(indexes)
	for _, index := range indexes {
		a.ToolCalls = append(a.ToolCalls, *a.calls[index])
	}
}

// Pause waits as the task says, after a chunk. True: leave the stream.
func Pause(task Task) bool {
	time.Sleep(time.Duration(task.PauseAfterFirstChunkMs) * time.Millisecond)
	return task.AbortAfterFirstChunk
}

// Serve calls prepare once per task. The function that it returns makes a call with one client.
func Serve(prepare func(Task) func() Answer) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var task Task
		if err := json.Unmarshal(lines.Bytes(), &task); err != nil {
			panic(err)
		}
		call := prepare(task)
		answer := call()
		if task.SecondCallAfterMs > 0 {
			time.Sleep(time.Duration(task.SecondCallAfterMs) * time.Millisecond)
			answer = call()
		}
		answer.finish(task.Task)
		if err := out.Encode(&answer); err != nil {
			panic(err)
		}
	}
}
