"""Composes one round of teaching. The same generators, with held-out wordings, make the examination."""

from training.corpus import read_conversation, read_folder, read_questions, read_yaml
from training.lessons.calls import Calls
from training.lessons.extraction import Extraction
from training.lessons.fillings import Fillings
from training.lessons.lesson import Source
from training.lessons.manners import Manners
from training.lessons.mixed_schemas import MixedSchemas
from training.lessons.no_calls import NoCalls
from training.lessons.noise import Noise
from training.lessons.paraphrase import Paraphrase
from training.lessons.recall import Recall
from training.lessons.results import Results
from training.lessons.retelling import Retelling
from training.lessons.schemas import Schemas
from training.lessons.snippets import Snippets
from training.lessons.tool_choice import ToolChoice
from training.lessons.written_functions import WrittenFunctions
from training.lessons.written_schemas import WrittenSchemas

DECLINED = {
    "foreign": 300,
    "live": 70,
    "advice": 55,
    "unknown": 140,
    "language": 200,
}  # lessons of each kind in a round


class Corpus:
    """The hand-written corpus, read once."""

    def __init__(self):
        self.questions = read_questions()
        self.conversation = read_conversation()
        self.fillings = read_yaml("templates/fillings.yaml")
        self.functions = read_yaml("templates/functions.yaml")
        self.extraction = read_yaml("templates/extraction.yaml")
        self.paraphrase = read_yaml("templates/paraphrase.yaml")
        self.forms = read_yaml("templates/forms.yaml")
        self.results = read_yaml("templates/results.yaml")
        self.snippets = read_yaml("templates/snippets.yaml")
        self.noise = read_yaml("templates/noise.yaml")
        self.no_call = read_yaml("templates/no-call.yaml")
        self.schemas = read_yaml("templates/schemas.yaml")
        self.retelling = read_yaml("templates/retelling.yaml")
        self.written_functions = read_folder("functions")
        self.written_schemas = read_folder("schemas")
        self.foreign_words = sorted(
            {
                word
                for entry in self.conversation["refusals"]
                for ask in entry["ask"]
                for word in ask.split()
                if word.isascii()
            }
        )
        self.words = sorted({word for question in self.questions for word in question.answer.split()})
        self.tool_choice = read_yaml("templates/which-tool.yaml")
        self.follow_ups = read_yaml("templates/follow-ups.yaml")["follow_ups"]


class Teachers:
    """The generators of all kinds of lessons, with one random source."""

    def __init__(self, corpus, seed, held_out=False):
        self.source = source = Source(seed, held_out)
        self.questions = corpus.questions
        self.fillings = Fillings(source, corpus.fillings)
        paraphrase = Paraphrase(source, corpus.paraphrase)
        self.recall = Recall(source, corpus.questions, corpus.forms, corpus.follow_ups, paraphrase, self.fillings)
        self.manners = Manners(source, corpus.conversation, self.recall, self.fillings)
        self.calls = Calls(source, corpus.functions, self.fillings, self.recall)
        self.own_calls = Calls(source, corpus.functions, self.fillings, self.recall, own=True)
        self.results = Results(source, corpus.results, self.calls)
        self.tool_choice = ToolChoice(source, corpus.tool_choice, self.calls)
        self.snippets = Snippets(source, corpus.snippets, self.recall)
        self.extraction = Extraction(source, corpus.extraction, self.fillings, corpus.words)
        self.noise = Noise(source, corpus.noise, self.fillings, self.recall, [*corpus.words, *corpus.foreign_words])
        self.no_calls = NoCalls(source, corpus.no_call, self.own_calls, self.manners, self.noise)
        self.schemas = Schemas(source, corpus.schemas, self.extraction, self.recall)
        self.mixed_schemas = MixedSchemas(self.schemas, self.manners, self.noise)
        failed, errors = corpus.functions["failed"], corpus.functions["errors"]
        self.retelling = Retelling(source, corpus.retelling, self.own_calls, failed, errors)
        answers = corpus.no_call["answers"]
        self.written_functions = WrittenFunctions(
            source, corpus.written_functions, answers, self.recall, self.retelling
        )
        self.written_schemas = WrittenSchemas(source, corpus.written_schemas, self.recall, self.fillings)

    def some(self, count):
        return self.source.dice.choices(self.questions, k=count)


def teach_round(corpus, seed, number):
    """Draws the lessons of round `number`: every taught question once in full and four or five times by its opening, and about twice as many
    lessons of skills."""
    teachers = Teachers(corpus, f"{seed}/teach/{number}")
    yield from questions_round(teachers)
    yield from manners_round(teachers)
    yield from calls_round(teachers)
    yield from own_calls_round(teachers)
    yield from texts_round(teachers)
    yield from written_round(teachers)


def questions_round(teachers):
    recall, size = teachers.recall, len(teachers.questions)
    yield from (recall.plain(question) for question in teachers.questions)
    yield from (recall.opening(question) for question in teachers.questions for _ in range(2))
    yield from (recall.thought(question) for question in teachers.some(size // 6))
    for form in recall.forms:
        yield from (recall.in_form(question, form) for question in teachers.some(size // 25))
        yield from (recall.in_form_later(question, form) for question in teachers.some(size // 100))
    yield from (recall.follow_up(pair) for pair in teachers.source.dice.choices(recall.pairs, k=size // 3))
    yield from (recall.switch(*teachers.some(2)) for _ in range(size // 9))
    yield from (recall.in_scope(question) for question in teachers.some(size // 9))


def manners_round(teachers):
    manners = teachers.manners
    yield from manners.small_talk()
    yield from (manners.greeting() for _ in range(220))
    yield from (teachers.noise.lesson() for _ in range(420))
    for kind, count in DECLINED.items():
        yield from (manners.refusal(kind) for _ in range(count))


def calls_round(teachers):
    calls = teachers.calls
    yield from (calls.one() for _ in range(160))
    yield from (calls.session(4) for _ in range(20))
    yield from (calls.two() for _ in range(60))
    yield from (calls.missing() for _ in range(40))
    yield from (calls.not_needed() for _ in range(80))
    yield from (calls.answered() for _ in range(40))
    yield from (calls.answered(2) for _ in range(10))
    yield from (teachers.results.lesson() for _ in range(70))
    yield from (teachers.tool_choice.lesson() for _ in range(50))
    yield from (teachers.no_calls.lesson() for _ in range(900))
    yield from (teachers.retelling.lesson() for _ in range(380))


def own_calls_round(teachers):
    calls = teachers.own_calls
    yield from (calls.one() for _ in range(420))
    yield from (calls.session(3) for _ in range(20))
    yield from (calls.direct() for _ in range(60))
    yield from (calls.two() for _ in range(30))
    yield from (calls.missing() for _ in range(60))
    yield from (calls.not_needed() for _ in range(80))


def texts_round(teachers):
    extraction = teachers.extraction
    yield from (extraction.lesson() for _ in range(160))
    yield from (teachers.schemas.lesson() for _ in range(450))
    yield from (teachers.mixed_schemas.lesson() for _ in range(1000))
    yield from (extraction.lesson(own=True) for _ in range(80))
    yield from (extraction.repeat() for _ in range(120))
    yield from (teachers.snippets.lesson() for _ in range(60))


def written_round(teachers):
    yield from (teachers.written_functions.lesson() for _ in range(3500))
    yield from (teachers.written_schemas.lesson() for _ in range(900))
