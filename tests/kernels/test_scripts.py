"""Texts in scripts other than Latin: which kernels read them, and that what can be learned is."""

import numpy as np
import pandas as pd
import pytest

import refless
from refless.errors import KernelError
from refless.evaluation.rate import fit_neighbors
from refless.kernels import kernel, unread

# invented sentences, of words that say good and bad things, and of plain ones
GOOD = {
    "Devanagari": ["सुंदर", "बढ़िया", "शांत", "स्वच्छ", "मीठा", "उत्तम"],
    "Chinese": ["美丽", "很好", "安静", "干净", "友好", "新鲜"],
    "Arabic": ["جميل", "رائع", "هادئ", "نظيف", "لطيف", "طازج"],
    "Thai": ["สวยงาม", "ดีมาก", "เงียบ", "สะอาด", "ใจดี", "สดใหม่"],
}
BAD = {
    "Devanagari": ["गंदा", "बुरा", "शोर", "ठंडा", "कड़वा", "खराब"],
    "Chinese": ["肮脏", "糟糕", "吵闹", "冷淡", "粗鲁", "破旧"],
    "Arabic": ["قذر", "سيئ", "صاخب", "بارد", "فظ", "قديم"],
    "Thai": ["สกปรก", "แย่มาก", "เสียงดัง", "เย็นชา", "หยาบ", "เก่าแก่"],
}
PLAIN = {
    "Devanagari": ["यह", "जगह", "नदी", "पास", "भोजन", "और"],
    "Chinese": ["这个", "地方", "河边", "食物", "以及", "员工"],
    "Arabic": ["هذا", "المكان", "النهر", "قرب", "الطعام", "ثم"],
    "Thai": ["ที่นี่", "ใกล้", "แม่น้ำ", "อาหาร", "และ", "พนักงาน"],
}
WITHOUT_BLANKS = ("Chinese", "Thai")
each_script = pytest.mark.parametrize("script", GOOD)


def sentences(script: str, number: int = 160) -> pd.DataFrame:
    """Texts with a year in Latin digits, whose rating is the number of their good words."""
    generator = np.random.default_rng(0)
    rows = []
    for _ in range(number):
        good = int(generator.integers(0, 5))
        words = [
            *generator.choice(GOOD[script], good),
            *generator.choice(BAD[script], 4 - good),
            *generator.choice(PLAIN[script], 4),
        ]
        between = "" if script in WITHOUT_BLANKS else " "
        text = between.join(generator.permutation(words))
        rows.append({"text": f"{text} {generator.integers(2000, 2003)}", "quality": 1 + good})
    return pd.DataFrame(rows)


@each_script
def test_a_planted_signal_is_found_by_what_reads_characters(script):
    texts = sentences(script)
    for settings in ({"method": "ridge"}, {"kernel": "bleu.char"}):
        scored = refless.score(texts.head(120), texts.tail(40), **settings)
        covered = scored.table["prediction"].notna().to_numpy()
        r = np.corrcoef(scored.table["prediction"][covered], texts["quality"].tail(40)[covered])
        assert covered.mean() > 0.5
        assert r[0, 1] > 0.4


@each_script
def test_kernels_of_words_decline_what_they_cannot_read(script):
    texts = sentences(script)["text"].tolist()
    assert kernel("rouge_l.stem", texts, texts).max() == 1  # years alone: it would be nonsense
    declining = {"rouge_l.stem", "rouge_l.plain"}
    if script in WITHOUT_BLANKS:
        declining |= {"bleu.word", "meteor.nltk35", "meteor.nltk39"}
    for name in ("rouge_l.stem", "rouge_l.plain", "bleu.word", "meteor.nltk35", "bleu.char"):
        lost, reason = unread(name, texts)
        assert lost == (len(texts) if name in declining else 0)
        assert name in reason


@each_script
def test_compare_leaves_such_kernels_out_with_the_reason(script):
    answer = refless.compare(
        sentences(script, 60), kernels=["bleu.char", "rouge_l.stem"], draws=200, repeats=1
    )
    rows = answer.table[answer.table["kernel"] == "rouge_l.stem"]
    assert rows["reason"].str.contains("60 of 60").all()
    assert rows["coverage"].isna().all()
    assert answer.table[answer.table["kernel"] == "bleu.char"]["coverage"].gt(0).all()
    with pytest.raises(KernelError, match="60 of 60"):
        fit_neighbors(sentences(script, 60), 1, None, kernel="rouge_l.stem")


def test_estimate_declines_or_says_what_its_kernel_cannot_read():
    texts = sentences("Arabic", 60)
    with pytest.raises(KernelError, match="60 of 60"):
        refless.estimate(texts, kernel="rouge_l.stem")
    good = ["a good place", "a bad place", "good food there", "bad food there", "fine"]
    latin = pd.DataFrame({"text": [f"{good[k % 5]} {k}" for k in range(90)], "quality": 1.0})
    latin["quality"] += np.arange(90) % 5
    answer = refless.estimate(pd.concat([texts, latin]), kernel="rouge_l.stem")
    assert any("60 of 150" in warning for warning in answer.warnings)


@pytest.mark.parametrize(
    ("name", "text", "reads"),
    [
        *(("rouge_l.stem", text, False) for text in ("Москва 5", "今年是 2024 年", "", "!!", "٥")),
        *(("rouge_l.stem", text, True) for text in ("5", "naïve Café", "GPT 是什么 model", "A-1")),
        ("bleu.word", "我 喜欢 你 的 书", True),  # blanks between words
        ("bleu.word", "我喜欢你的书和电影还有音乐 我喜欢你的书和电影还有音乐 a b", False),
        ("bleu.word", "one two three", False),
        ("meteor.nltk39", "我喜欢你的书和电影还有音乐", False),
        ("meteor.nltk39", "मुझे किताब पसंद है", True),
        ("meteor.nltk39", "!", True),
        ("bleu.char", "我喜欢你的书", True),
        ("bleu.char", "yes", False),
    ],
)
def test_a_text_is_read_from_half_of_its_letters_on(name, text, reads):
    assert unread(name, [text])[0] == (not reads)
