"""Stop words: words that say little about what a text is about. One table for the three places that leave them out.

The words that all three leave out are listed once. What each adds was tuned for its own task, with its own benchmark:
a query to rank pages by (`is_stop_word`), the full-text index of the library (`is_index_stop_word`), and the claims of
an answer (`CLAIM_STOP_WORDS`). The words of the index are part of every existing database.
"""

from collections.abc import Mapping
from typing import Final

from footnote.text.terms import VARIANTS

_ENGLISH = """
a an the of to in on at by for from with as are was were be been being am do does did has have had and or but that
this these those it its he his him she her they their them we our us you your i my me what which who whom whose when
where why how many much than then there here into about over under after before between during through up out off
again if so such only also can could will would should one
"""
_VIETNAMESE = """
là của và các những một có được cho trong với này đó khi để từ đã đang sẽ bị do bởi vì tại ở trên dưới vào ra đến về
như thì mà hay hoặc nhưng cũng nào gì ai bao sao thế nó họ tôi cái việc sự rằng theo nếu đều rất hơn nhất nhiều lại
còn chỉ
"""
_CHINESE = "的了是在有和与及或之其为以于由被把将对从到也都就而这那哪个些他她它们我你您"

# Added in queries by which pages are ranked -----------------------------------------------------------------------

_ENGLISH_IN_QUERIES = """
is not no down shall may might must s please tell explain describe
"""
_VIETNAMESE_IN_QUERIES = """
không đâu nhiêu người ta ông bà anh chị em chúng mình con chiếc điều
"""
_CHINESE_IN_QUERIES = "但并且谁何什么吗呢吧啊呀多少几怎样时候里儿一不上下中"
_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о
из ему теперь когда даже ну ли если уже или быть был него до вас нибудь вам ведь там потом себя ничего ей может они тут
где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж тогда кто этот того потому
этого какой какая какое какие какого каком каким какую каких какова совсем этом один почти мой тем чтобы нее были куда
зачем всех можно при два об другой после над больше тот через эти нас про них какими много это этой который которая
которые которое которого которой которых котором является называется сколько почему кем чему году год года
"""
_ARABIC = """
في من على الى إلى عن مع هو هي هم هذا هذه ذلك تلك التي الذي الذين ما ماذا متى اين أين كيف كم لماذا هل أي اي كان كانت
يكون تكون أن ان إن لا لم لن قد تم يتم كل بعض بين بعد قبل عند عندما حيث أو او ثم كما أيضا ايضا غير له لها به بها فيه
فيها عليه عليها منه منها
"""
_HINDI = """
के में है का की को से ने हैं पर था थे थी और एक यह वह ये वे इस उस इन उन किस क्या कौन कब कहाँ कहां कैसे क्यों कितने कितना
कितनी किसने किसे किसके किसका किसकी लिए साथ तक द्वारा भी तो ही हो होता होती होते हुआ हुई हुए किया किए की गया गई गए जाता
जाती जाते कर करने करता करते करती सा से जो जब तब या नहीं कि अपने अपना अपनी रूप
"""

# Added in the index of the library ---------------------------------------------------------------------------------

_ENGLISH_IN_INDEX = """
above all any became because become below both doing done each else ever few further get give having hers is itself
just kind let more most no nor not other own per please same some tell too type until upon very what's while who's
within without yours
"""
_VIETNAMESE_IN_INDEX = """
biết cách cần chưa cùng đâu đây đi giữa hãy không lên loại làm mấy mỗi mọi nên ngoài nhiêu nơi phải qua quá rồi sau
tất tới trước tuy vẫn vậy xin
"""
_CHINESE_IN_INDEX = "谁么什吗呢吧啊呀怎几所还又很最更请让使得着过会能可與於這誰麼嗎個們為還讓會過將幾對從請"

# Added in claims ---------------------------------------------------------------------------------------------------

_ENGLISH_IN_CLAIMS = """
theirs nor yet onto per toward towards until unto upon via within without above across against along although among
amongst amid any around because below beneath beside besides beyond both doing done down each either else ever every
few further having however just may might more most must near neither now once other others otherwise own quite
rather same shall since some still though thus too very while yes already almost always another anyone anything
became become becomes even itself himself herself themselves later less often perhaps several soon sometimes thereby
therefore thereafter various well whether s t d ll re ve according called known named said says say made make makes
used using use new first two notably reported reports report notes noted states stated article page source sources
website include includes including included today currently
"""
_VIETNAMESE_IN_CLAIMS = """
con chiếc ngoài tới lên xuống kia đây ấy lúc nên vẫn song cùng ông bà anh chị em ta chúng mình người cuộc ít mỗi mọi
cả đi qua sau trước giữa gồm cách vậy tuy dù mặc bằng rồi nữa luôn thường đầu cuối số trở thành gọi biết năm ngày
tháng lần thứ vài hàng hầu hết phần lớn khác nhau riêng chung tức ví dụ đáng chú trang bài viết nguồn nơi nay xem
coi
"""
_CHINESE_IN_CLAIMS = (
    "着过且但还又再才则并向因所此该位名种自己会能可要应当让使给跟比等很更最太已曾正即"
    "若虽然如果者后前里中上下内外间时来去说称叫做据介绍值得注意文提指出报道显示表一"
)

# Compared after `terms.normalize`, which replaces the letters that are written in more than one way.
_OTHER_LANGUAGES = (word.translate(VARIANTS) for word in f"{_RUSSIAN} {_ARABIC} {_HINDI}".split())
_QUERY_WORDS = frozenset(
    (
        *f"{_ENGLISH} {_ENGLISH_IN_QUERIES} {_VIETNAMESE} {_VIETNAMESE_IN_QUERIES}".split(),
        *(_CHINESE + _CHINESE_IN_QUERIES),
        *_OTHER_LANGUAGES,
    )
)
_INDEX_WORDS = frozenset(f"{_ENGLISH} {_ENGLISH_IN_INDEX} {_VIETNAMESE} {_VIETNAMESE_IN_INDEX}".split())
_INDEX_CHARACTERS = frozenset(_CHINESE + _CHINESE_IN_INDEX)

CLAIM_STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    "en": frozenset(f"{_ENGLISH} {_ENGLISH_IN_CLAIMS}".split()),
    "vi": frozenset(f"{_VIETNAMESE} {_VIETNAMESE_IN_CLAIMS}".split()),
    "zh": frozenset(_CHINESE + _CHINESE_IN_CLAIMS),
}
"""By language; the entries of Chinese are single characters."""


def is_stop_word(word: str) -> bool:
    """Whether a normalized word, or a single Chinese character, is a stop word of a query."""
    return word in _QUERY_WORDS


def is_index_stop_word(term: str) -> bool:
    """Whether the index of the library leaves out a term (see `terms.terms`): a word, or a pair of characters with
    one that is a stop word."""
    return term in _INDEX_WORDS or not _INDEX_CHARACTERS.isdisjoint(term)
