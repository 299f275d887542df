import unittest

from training.parts import count_declined, count_parts, count_readable, parts_of

CALLS = '<tool_call>\n{"name": "f", "arguments": {"a": "0x1", "n": 2}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>'


def row(wanted, given):
    return {"wanted": wanted, "given": given}


class PartsTest(unittest.TestCase):
    def test_arguments_of_every_call(self):
        self.assertEqual(parts_of(CALLS), {(0, "f", "a"): '"0x1"', (0, "f", "n"): "2"})

    def test_fields_of_json_after_a_thought(self):
        self.assertEqual(parts_of('<think>\nI copy a.\n</think>\n\n{"a": null}'), {"a": "null"})

    def test_what_cannot_be_read(self):
        for text in ("I do not know.", '{"a": 1', "[1]", '<tool_call>\n{"name": "f"}\n</tool_call>'):
            self.assertIsNone(parts_of(text), text)

    def test_each_part_counts_once_and_what_nobody_wanted_is_wrong(self):
        wanted = '{"a": 1, "b": "x"}'
        for given, counted in (
            (wanted, (2, 2)),
            ('{"a": 1, "b": "y"}', (1, 2)),
            ('{"a": 1, "c": 2}', (1, 3)),
            ("no", (0, 2)),
        ):
            self.assertEqual(count_parts([row(wanted, given)]), counted, given)

    def test_a_call_of_another_function_has_no_right_argument(self):
        self.assertEqual(count_parts([row(CALLS, CALLS.replace('"f"', '"h"'))]), (0, 4))

    def test_readable_answers(self):
        self.assertEqual(count_readable([row("{}", "{}"), row("{}", "{")]), (1, 2))

    def test_declining_with_the_sentence_of_another_reason_is_declining(self):
        foreign, live = "Only Web3.", "<think>\nLive data.\n</think>\n\nNo live data."
        rows = [
            row(foreign, foreign),
            row(foreign, "No live data."),
            row(live, "Only Web3."),
            row(live, "It is 3000 dollars."),
        ]
        self.assertEqual(count_declined(rows), (3, 4))


if __name__ == "__main__":
    unittest.main()
