package charter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// NeverIssued is the number in an argument that asks for one which the implementation never
// allotted, and NeverIssuedText the text. Compare with them if your implementation could allot them.
const (
	NeverIssued     = 999_999_999
	NeverIssuedText = "never issued"
)

// Set is a set; as JSON it is sorted. An element that is there twice is an error, which the judge tells.
type Set[T any] []T

// MarshalJSON writes the items in canonical order.
func (s Set[T]) MarshalJSON() ([]byte, error) {
	return sortedArray(s)
}

// List is a sequence or a ranking.
type List[T any] []T

// MarshalJSON writes an empty array for nil.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return encode([]T(l))
}

// Bool is a truth value as the key of a map.
type Bool bool

// MarshalText writes the key of an object.
func (b Bool) MarshalText() ([]byte, error) {
	return strconv.AppendBool(nil, bool(b)), nil
}

// UnmarshalText reads the key of an object.
func (b *Bool) UnmarshalText(text []byte) error {
	value, err := strconv.ParseBool(string(text))
	*b = Bool(value)
	return err
}

// Pairs is a map whose keys are neither names nor truth values.
type Pairs[K, V any] []Pair[K, V]

// Pair is an entry of Pairs.
type Pair[K, V any] struct {
	Key   K
	Value V
}

// MarshalJSON writes the entries in canonical order.
func (p Pairs[K, V]) MarshalJSON() ([]byte, error) {
	return sortedArray(p)
}

// MarshalJSON writes an array of two.
func (p Pair[K, V]) MarshalJSON() ([]byte, error) {
	return encode([]any{p.Key, p.Value})
}

// UnmarshalJSON reads an array of two.
func (p *Pair[K, V]) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&p.Key, &p.Value})
}

// Present returns the value of an option that is not none.
func Present[T any](value T) *T {
	return &value
}

// encode is json.Marshal without the escapes for HTML.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// decode reads any JSON; numbers stay texts.
func decode(data []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// canonical returns a value as a tree of JSON, and its canonical text.
func canonical(value any) (tree any, text []byte, err error) {
	if text, err = encode(value); err != nil {
		return nil, nil, err
	}
	if tree, err = decode(text); err != nil {
		return nil, nil, err
	}
	text, err = encode(tree)
	return tree, text, err
}

func sortedArray[T any](items []T) ([]byte, error) {
	texts := make([]string, 0, len(items))
	for _, item := range items {
		_, text, err := canonical(item)
		if err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	slices.SortFunc(texts, func(a, b string) int {
		return strings.Compare(orderKey(a), orderKey(b))
	})
	return []byte("[" + strings.Join(texts, ",") + "]"), nil
}

var (
	opaqueNumber = regexp.MustCompile(`"@(-?\d+)"`)
	offset       = new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil)
)

// orderKey is what sets and maps are sorted by: in canonical text, "@9" comes before "@10".
func orderKey(text string) string {
	return opaqueNumber.ReplaceAllStringFunc(text, func(found string) string {
		number, _ := new(big.Int).SetString(found[2:len(found)-1], 10)
		return fmt.Sprintf(`"@%021d"`, number.Add(number, offset))
	})
}

func marshalOpaqueNumber(number int64) ([]byte, error) {
	return []byte(`"@` + strconv.FormatInt(number, 10) + `"`), nil
}

func marshalOpaqueText(text string) ([]byte, error) {
	return encode("~" + text)
}

// unmarshalNumber reads 7, "@7", or a wish for a number that was never issued.
func unmarshalNumber(data []byte, number *int64) error {
	if data[0] == '{' {
		*number = NeverIssued
		return nil
	}
	text := strings.TrimPrefix(strings.Trim(string(data), `"`), "@")
	value, err := strconv.ParseInt(text, 10, 64)
	*number = value
	return err
}

// unmarshalText reads "~text", or a wish for a text that was never issued.
func unmarshalText(data []byte, text *string) error {
	if data[0] == '{' {
		*text = NeverIssuedText
		return nil
	}
	if err := json.Unmarshal(data, text); err != nil {
		return err
	}
	*text = strings.TrimPrefix(*text, "~")
	return nil
}

// marshalCase writes a case of a union; `fields` is a struct with its parameters.
func marshalCase(name string, fields any) ([]byte, error) {
	text, err := encode(fields)
	if err != nil {
		return nil, err
	}
	head := `{"case":` + strconv.Quote(name)
	if len(text) > len("{}") {
		head += ","
	}
	return append([]byte(head), text[1:]...), nil
}

// caseOf returns the name of the case of a union.
func caseOf(data []byte) (string, error) {
	var union struct{ Case string }
	err := json.Unmarshal(data, &union)
	return union.Case, err
}

func unmarshalCase[T any](data []byte) (value T, err error) {
	err = json.Unmarshal(data, &value)
	return value, err
}
