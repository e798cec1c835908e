import unicodedata

import pytest

from footnote.documents.charset import decode
from web.hostile import CHINESE, JAPANESE, KOREAN, RUSSIAN, VIETNAMESE, charsets, windows_1258

TEXTS = {
    "gbk": "长江是中国最长的河流,全长约六千三百公里,发源于青藏高原的唐古拉山脉,流经十一个省、自治区和直辖市,"
    "最后在上海注入东海。它的流域面积约占全国陆地面积的五分之一,养育着四亿多人口。",
    "big5": "淡水河是臺灣北部最大的河川,流經新北市與臺北市,最後在淡水注入臺灣海峽。十九世紀後期,淡水曾是"
    "北部最重要的國際港口,茶葉和樟腦都由此輸往世界各地。",
    "shift_jis": "琵琶湖は滋賀県にある日本で最も大きな湖で、その面積は県のおよそ六分の一を占める。"
    "湖の水は瀬田川から流れ出て、宇治川、淀川と名前を変え、最後には大阪湾に注いでいる。",
    "euc-kr": "한강은 태백산맥에서 시작하여 서울을 지나 황해로 흘러드는 강이다. 예로부터 이 강을 차지한 나라가 "
    "한반도의 주도권을 잡았으며, 지금도 수도권에 사는 이천만 명이 이 강물을 마시고 있다.",
    "windows-1251": "Волга — самая длинная река Европы: её длина составляет около трёх с половиной тысяч километров. "
    "Она берёт начало на Валдайской возвышенности и впадает в Каспийское море.",
    "windows-1258": "Sông Hồng bắt nguồn từ tỉnh Vân Nam của Trung Quốc, chảy qua nhiều tỉnh miền Bắc Việt Nam "
    "rồi đổ ra vịnh Bắc Bộ. Nước sông có màu đỏ vì chở nhiều phù sa.",
    "windows-1252": "Die Weser entsteht in Hannoversch Münden, wo sich Werra und Fulda küssen, und mündet nach gut "
    "vierhundert Kilometern in die Nordsee. Für die Schifffahrt ist sie größtenteils ausgebaut – „frei“ ist sie kaum.",
}
TEXTS |= {
    "euc-jp": TEXTS["shift_jis"],
    "iso-2022-jp": TEXTS["shift_jis"],
    "koi8-r": TEXTS["windows-1251"].replace("—", "-"),
    "utf-8": TEXTS["windows-1258"],
    "windows-1252 ": (
        "La Loire prend sa source au pied du mont Gerbier-de-Jonc, en Ardèche, et se jette dans l’océan Atlantique. "
        "C’est le plus long fleuve français ; ses châteaux, élevés à la Renaissance, attirent des visiteurs."
    ),
}
EACH = pytest.mark.parametrize("encoding", TEXTS)


def page(text: str, encoding: str, meta: str = "") -> bytes:
    html = f'<html><head>{meta}<title>Home</title></head><body><a href="/about">About us</a><p>{text}</p></body></html>'
    return (windows_1258(html) if encoding == "windows-1258" else html).encode(encoding.strip())


@EACH
def test_a_declaration_of_the_server_is_followed(encoding: str) -> None:
    text = TEXTS[encoding]
    assert decode(page(text, encoding), f'text/html; Charset="{encoding.upper()}"') == page(text, "utf-8").decode()


@EACH
@pytest.mark.parametrize(
    "meta",
    ['<meta charset="{}">', "<META http-equiv='Content-Type' content='text/html; charset={}'>"],
)
def test_a_declaration_of_the_page_is_followed(encoding: str, meta: str) -> None:
    text, meta = TEXTS[encoding], meta.format(encoding.strip())
    assert decode(page(text, encoding, meta), "text/html") == page(text, "utf-8", meta).decode()


@EACH
@pytest.mark.parametrize("declared", ["", "; charset=utf-8", "; charset=iso-8859-1", "; charset=x-no-such-charset"])
def test_the_encoding_is_guessed_where_the_declaration_is_missing_or_wrong(encoding: str, declared: str) -> None:
    text = TEXTS[encoding]
    assert decode(page(text, encoding), f"text/html{declared}") == page(text, "utf-8").decode()


@EACH
def test_plain_text_is_guessed_as_well(encoding: str) -> None:
    text = windows_1258(TEXTS[encoding]) if encoding == "windows-1258" else TEXTS[encoding]
    assert decode(text.encode(encoding.strip()), "text/plain") == TEXTS[encoding]


@pytest.mark.parametrize(
    ("label", "encoding", "text"),
    [
        ("gb2312", "gb18030", "朱镕基和龙应台𠮷"),
        ("ks_c_5601-1987", "cp949", "똠방각하 펲시콜라"),
        ("x-sjis", "cp932", "①番の髙橋さん"),
        ("tis-620", "cp874", "แม่น้ำเจ้าพระยา…"),
        ("latin1", "cp1252", "“Ça coûte 5 €”"),
        ("iso-8859-9", "cp1254", "İç Anadolu’yu"),
    ],
)
def test_labels_mean_what_browsers_take_them_for(label: str, encoding: str, text: str) -> None:
    assert decode(text.encode(encoding), f"text/plain; charset={label}") == text


@pytest.mark.parametrize("label", ["utf-7", "unicode_escape", "rot13", "hex", "idna", "undefined", "zip", "\0"])
def test_what_is_no_encoding_of_pages_is_not_asked_of_python(label: str) -> None:
    text = "+ADw-script+AD4- \\u003c " + TEXTS["windows-1252"]
    assert decode(text.encode("cp1252"), f"text/html; charset={label}") == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_marks_and_zeros_say_more_than_declarations(encoding: str) -> None:
    text = page(VIETNAMESE, "utf-8", '<meta charset="gbk">').decode()
    assert decode(text.encode(encoding), "text/html; charset=iso-8859-1") == text


def test_the_pages_own_word_counts_more_than_a_server_that_says_latin_1_of_everything() -> None:
    text = page("Zażółć", "utf-8", '<meta charset="iso-8859-2">').decode()
    assert decode(text.encode("iso-8859-2"), "text/html; charset=iso-8859-1") == text


def test_an_xml_declaration_is_followed() -> None:
    text = '<?xml version="1.0" encoding="windows-1251"?><a>Да</a>'
    assert decode(text.encode("cp1251"), "application/xml") == text


def test_utf_8_that_is_broken_in_one_place_stays_utf_8() -> None:
    body = VIETNAMESE.encode() * 3 + b" \xff " + VIETNAMESE.encode()
    assert decode(body, "text/html") == f"{VIETNAMESE * 3} \ufffd {VIETNAMESE}"


def test_a_few_characters_that_could_be_utf_8_are_what_the_server_says() -> None:
    assert decode("联通".encode("gbk"), "text/plain; charset=gbk") == "联通"
    assert decode("北京联通公司".encode(), "text/plain; charset=gbk") == "北京联通公司"


@pytest.mark.parametrize("start", range(0, 60, 12))
def test_a_short_text_with_kana_is_not_taken_for_chinese(start: int) -> None:
    text = TEXTS["euc-jp"][start : start + 12]
    assert decode(page(text, "euc-jp"), "text/html") == page(text, "utf-8").decode()


def test_a_body_that_was_cut_within_a_character_keeps_its_encoding() -> None:
    assert decode("北京市".encode("gbk")[:-1], "text/plain; charset=gbk") == "北京\ufffd"
    assert decode("Đỏ và xanh ạ".encode()[:-1], "text/plain; charset=iso-8859-1") == "Đỏ và xanh \ufffd"


def test_the_small_web_comes_out_right() -> None:
    texts = (CHINESE, JAPANESE, KOREAN, RUSSIAN, VIETNAMESE, "台灣的首都是臺北,位於臺灣北部的臺北盆地。")
    read = {path: decode(reply.body, reply.headers["Content-Type"]) for path, reply in charsets().items()}
    assert [path for path, text in read.items() if not any(f"<p>{each * 5}</p>" in text for each in texts)] == []


def test_only_vietnamese_is_composed() -> None:
    apart = unicodedata.normalize("NFD", "Hà Nội")
    assert decode(apart.encode(), "text/plain; charset=utf-8") == apart


@pytest.mark.parametrize("encoding", ["cp949", "gbk", "big5", "shift_jis", "euc_jp"])
def test_rows_of_a_table_are_read_in_their_encoding(encoding: str) -> None:
    rows = {
        "cp949": "이름,도시,전화\n김민수,서울,010\n이영희,부산,011\n박철수,대구,012\n최지우,인천,013\n",
        "gbk": "姓名,城市,电话\n王小明,北京,010\n李丽,上海,021\n张伟,广州,020\n刘洋,深圳,0755\n陈静,成都,028\n",
        "big5": "姓名,城市,電話\n王小明,臺北,02\n李麗,高雄,07\n張偉,臺中,04\n劉洋,新竹,03\n陳靜,臺南,06\n",
        "shift_jis": "名前,都市,電話\n佐藤さくら,東京,03\n鈴木たろう,大阪,06\n高橋ゆい,名古屋,052\n田中けん,福岡,092\n",
    }
    text = rows[encoding if encoding in rows else "shift_jis"]
    assert decode(text.encode(encoding), "") == text
