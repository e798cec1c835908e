"""Words that any text has, whatever it is about: they tell little of what a question is after."""

_ENGLISH = """
a an the of to in on at by for from with as is are was were be been being am do does did has have had and or
but not no
that this these those it its he his him she her they their them we our us you your i my me what which who whom whose
when where why how many much than then there here into about over under after before between during through up
down out
off again if so such only also can could will would shall should may might must one s please tell explain describe
"""
_VIETNAMESE = """
là của và các những một có được cho trong với không này đó khi để từ đã đang sẽ bị do bởi vì tại ở trên dưới
vào ra đến
về như thì mà hay hoặc nhưng cũng nào gì ai đâu bao nhiêu sao thế người ta nó họ ông bà anh chị em tôi chúng
mình cái con
chiếc việc sự điều rằng theo nếu đều rất hơn nhất nhiều lại còn chỉ
"""
_CHINESE = (
    "的了是在有和与及或之其为以于由被把将对从到也都就而但并且这那哪个些谁何什么吗呢吧啊呀多少几怎样时候里"
    "儿一不上下中他她它们我你您"
)
_FREQUENT = frozenset((*_ENGLISH.split(), *_VIETNAMESE.split(), *_CHINESE))


def is_frequent(word: str) -> bool:
    """Of a folded word, or of a single Chinese character."""
    return word in _FREQUENT
