import unittest

from training.corpus import normalise
from training.lessons.rounds import Corpus, teach_round


class CorpusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.corpus = Corpus()  # checks the rules of corpus/README.md while reading

    def test_an_answer_is_short(self):
        for question in self.corpus.questions:
            self.assertLessEqual(len(question.sentences), 3, question.key)
            self.assertLessEqual(len(question.answer), 240, question.key)

    def test_what_is_held_out_is_never_taught(self):
        questions = {normalise(question.held_out) for question in self.corpus.questions}
        conversation = [*self.corpus.conversation["small_talk"], *self.corpus.conversation["refusals"]]
        spoken = {normalise(ask) for entry in conversation for ask in entry["held_out"]}
        for number in range(1, 5):
            for lesson in teach_round(self.corpus, 1, number):
                # If a function is offered, a message that is otherwise declined may be a request for a call.
                kept = questions if lesson.tools else questions | spoken
                for message in lesson.messages:
                    self.assertNotIn(normalise(message["content"] or ""), kept)

    def test_a_round_can_be_made_again(self):
        self.assertEqual(list(teach_round(self.corpus, 5, 4)), list(teach_round(self.corpus, 5, 4)))


if __name__ == "__main__":
    unittest.main()
