// The program that readers.test.ts runs. Each line of the input is a stream, as pieces in hexadecimal digits. For each, the
// program prints a line: a JSON array of the chunks that the reader found, and of the end of the stream.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"example.com/parley"
)

// pieces returns one piece per read.
type pieces struct{ left []string }

func (p *pieces) Read(buffer []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	piece, err := hex.DecodeString(p.left[0])
	if err != nil {
		return 0, err
	}
	count := copy(buffer, piece)
	if count < len(piece) {
		p.left[0] = hex.EncodeToString(piece[count:])
	} else {
		p.left = p.left[1:]
	}
	return count, nil
}

func describe(chunk *parley.Chunk) string {
	text := ""
	for _, choice := range chunk.Choices {
		text += choice.Delta.Content
		for _, call := range choice.Delta.ToolCalls {
			text += call.Function.Arguments
		}
		if choice.FinishReason != nil {
			text += *choice.FinishReason
		}
	}
	if chunk.Usage != nil {
		text += fmt.Sprint(chunk.Usage.TotalTokens)
	}
	return text
}

func read(line string) []string {
	found := []string{}
	reader := parley.NewReader(&pieces{strings.Split(line, " ")})
	for {
		chunk, err := reader.Next()
		var failure *parley.StreamError
		switch {
		case err == nil:
			found = append(found, describe(chunk))
		case errors.Is(err, io.EOF):
			return append(found, "done")
		case errors.Is(err, io.ErrUnexpectedEOF):
			return append(found, "truncated")
		case errors.As(err, &failure):
			return append(found, failure.Code+" "+failure.RequestID)
		default:
			panic(err)
		}
	}
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := answers.Encode(read(lines.Text())); err != nil {
			panic(err)
		}
	}
}
