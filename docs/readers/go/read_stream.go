// Package parley reads a streamed answer: bytes in, typed chunks out.
package parley

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// Chunk has the fields that most programs read; /streams.json describes all of them.
type Chunk struct {
	Choices []struct {
		Index        int     `json:"index"`
		Delta        Delta   `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		TotalTokens int    `json:"total_tokens"`
		CostUSD     string `json:"cost_usd"`
	} `json:"usage"`
}

// Delta is the part that a chunk adds to a choice.
type Delta struct {
	Content   string `json:"content"`
	ToolCalls []struct {
		Index    int    `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// StreamError says that the service ended the stream with an error.
type StreamError struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	RequestID string `json:"-"`
}

func (e *StreamError) Error() string { return e.Code + ": " + e.Message }

// Reader reads the chunks of one streamed answer.
type Reader struct{ lines *bufio.Scanner }

// NewReader reads from the body of the answer.
func NewReader(body io.Reader) *Reader {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 16<<20)
	lines.Split(splitLines())
	return &Reader{lines}
}

// Next returns the next chunk. At the end of a complete answer it returns io.EOF. If the bytes ended before [DONE],
// it returns io.ErrUnexpectedEOF: the answer is not complete, even if it looks complete.
func (r *Reader) Next() (*Chunk, error) {
	data, err := r.nextEvent()
	if err != nil {
		return nil, err
	}
	if data == "[DONE]" {
		return nil, io.EOF
	}
	var event struct {
		Chunk
		Error     *StreamError `json:"error"`
		RequestID string       `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(data), &event); err != nil {
		return nil, err
	}
	if event.Error != nil {
		event.Error.RequestID = event.RequestID
		return nil, event.Error
	}
	return &event.Chunk, nil
}

func (r *Reader) nextEvent() (string, error) {
	var data []string
	for r.lines.Scan() {
		line := r.lines.Text()
		if strings.HasPrefix(line, "data:") {
			data = append(data, strings.TrimPrefix(line[5:], " "))
		}
		if line == "" && data != nil { // everything else is a comment, another field, or an event without data
			return strings.Join(data, "\n"), nil
		}
	}
	if err := r.lines.Err(); err != nil {
		return "", err
	}
	return "", io.ErrUnexpectedEOF
}

// splitLines ends lines with LF, CR or CRLF, and drops a byte order mark and a line without an end.
func splitLines() bufio.SplitFunc {
	isFirst, isAfterCR := true, false
	return func(data []byte, _ bool) (int, []byte, error) {
		skip := 0
		if isAfterCR && bytes.HasPrefix(data, []byte("\n")) {
			skip = 1
		}
		length := bytes.IndexAny(data[skip:], "\r\n")
		if length < 0 {
			return 0, nil, nil
		}
		line := data[skip : skip+length]
		if isFirst {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		isFirst, isAfterCR = false, data[skip+length] == '\r'
		return skip + length + 1, line, nil
	}
}
