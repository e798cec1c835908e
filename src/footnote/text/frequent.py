"""Words that any text has, whatever it is about: they tell little of what a question is after."""

from footnote.text.letters import VARIANTS

_ENGLISH_STOP_WORDS = """
a an the of to in on at by for from with as is are was were be been being am do does did has have had and or
but not no
that this these those it its he his him she her they their them we our us you your i my me what which who whom whose
when where why how many much than then there here into about over under after before between during through up
down out
off again if so such only also can could will would shall should may might must one s please tell explain describe
"""
_VIETNAMESE_STOP_WORDS = """
là của và các những một có được cho trong với không này đó khi để từ đã đang sẽ bị do bởi vì tại ở trên dưới
vào ra đến
về như thì mà hay hoặc nhưng cũng nào gì ai đâu bao nhiêu sao thế người ta nó họ ông bà anh chị em tôi chúng
mình cái con
chiếc việc sự điều rằng theo nếu đều rất hơn nhất nhiều lại còn chỉ
"""
_CHINESE_STOP_CHARACTERS = (
    "的了是在有和与及或之其为以于由被把将对从到也都就而但并且这那哪个些谁何什么吗呢吧啊呀多少几怎样时候里"
    "儿一不上下中他她它们我你您"
)
_RUSSIAN_STOP_WORDS = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о
из ему теперь когда даже ну ли если уже или быть был него до вас нибудь вам ведь там потом себя ничего ей может они тут
где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж тогда кто этот того потому
этого какой какая какое какие какого каком каким какую каких какова совсем этом один почти мой тем чтобы нее были куда
зачем всех можно при два об другой после над больше тот через эти нас про них какими много это этой который которая
которые которое которого которой которых котором является называется сколько почему кем чему году год года
"""
_ARABIC_STOP_WORDS = """
في من على الى إلى عن مع هو هي هم هذا هذه ذلك تلك التي الذي الذين ما ماذا متى اين أين كيف كم لماذا هل أي اي كان كانت
يكون تكون أن ان إن لا لم لن قد تم يتم كل بعض بين بعد قبل عند عندما حيث أو او ثم كما أيضا ايضا غير له لها به بها فيه
فيها عليه عليها منه منها
"""
_HINDI_STOP_WORDS = """
के में है का की को से ने हैं पर था थे थी और एक यह वह ये वे इस उस इन उन किस क्या कौन कब कहाँ कहां कैसे क्यों कितने कितना
कितनी किसने किसे किसके किसका किसकी लिए साथ तक द्वारा भी तो ही हो होता होती होते हुआ हुई हुए किया किए की गया गई गए जाता
जाती जाते कर करने करता करते करती सा से जो जब तब या नहीं कि अपने अपना अपनी रूप
"""
# As they are compared: without the marks that `letters.comparable` takes off.
_OTHER_STOP_WORDS = (
    word.translate(VARIANTS)
    for word in (*_RUSSIAN_STOP_WORDS.split(), *_ARABIC_STOP_WORDS.split(), *_HINDI_STOP_WORDS.split())
)
_STOP_WORDS = frozenset(
    (*_ENGLISH_STOP_WORDS.split(), *_VIETNAMESE_STOP_WORDS.split(), *_CHINESE_STOP_CHARACTERS, *_OTHER_STOP_WORDS)
)


def is_stop_word(word: str) -> bool:
    """Of a folded word, or of a single Chinese character."""
    return word in _STOP_WORDS
