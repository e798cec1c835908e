"""Statements that differ from their page in one respect, by kind of error, in English, Vietnamese and Chinese.

Each row: what the page says, a statement that follows from it, and one that does not.
"""

import pytest

from evidence.samples import sources_of
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Citation


def judge(claim: str, page: str) -> Citation:
    [citation] = check_citations(f"> {claim} [1]", sources_of(page))
    return citation


KINDS: dict[str, list[tuple[str, str, str]]] = {
    "roles": [
        (
            "In 2014 the brewer Halden acquired its rival Morten for 40 million euros.",
            "Halden acquired its rival Morten for 40 million euros in 2014.",
            "Morten acquired its rival Halden for 40 million euros in 2014.",
        ),
        (
            "The orchestra flew from Lisbon to Caracas with ninety musicians.",
            "The orchestra flew from Lisbon to Caracas.",
            "The orchestra flew from Caracas to Lisbon.",
        ),
        (
            "The bishop was arrested by the governor of Tarn in March 1681.",
            "The governor of Tarn arrested the bishop in March 1681.",
            "The bishop arrested the governor of Tarn in March 1681.",
        ),
        (
            "The northern lake is shallow and warm, the southern lake is deep and cold.",
            "The northern lake is shallow and warm.",
            "The northern lake is deep and cold.",
        ),
        (
            "Anna Lund was born in Bergen and studied in Uppsala.",
            "Anna Lund studied in Uppsala.",
            "Anna Lund was born in Uppsala and studied in Bergen.",
        ),
        (
            "Công ty Hòa Phát đã mua lại công ty Thép Việt vào năm 2015.",
            "Năm 2015, công ty Hòa Phát đã mua lại công ty Thép Việt.",
            "Công ty Thép Việt đã mua lại công ty Hòa Phát vào năm 2015.",
        ),
        (
            "Đoàn tàu chạy từ Hà Nội đến Đà Nẵng mỗi sáng.",
            "Đoàn tàu chạy từ Hà Nội đến Đà Nẵng.",
            "Đoàn tàu chạy từ Đà Nẵng đến Hà Nội.",
        ),
        (
            "2016年，东风公司收购了远大公司的全部股份。",
            "东风公司收购了远大公司的全部股份。",
            "远大公司收购了东风公司的全部股份。",
        ),
        ("列车从广州开往昆明，全程九小时。", "列车从广州开往昆明。", "列车从昆明开往广州。"),
    ],
    "denials": [
        (
            "The committee did not approve the new stadium near the harbour.",
            "The committee did not approve the new stadium near the harbour.",
            "The committee approved the new stadium near the harbour.",
        ),
        (
            "The vaccine failed to protect the older patients in the trial.",
            "The vaccine failed to protect the older patients in the trial.",
            "The vaccine protected the older patients in the trial.",
        ),
        (
            "There is no evidence that the tea prevents colds in healthy adults.",
            "There is no evidence that the tea prevents colds in healthy adults.",
            "The tea prevents colds in healthy adults.",
        ),
        (
            "The ship left the port without its captain and two sailors.",
            "The ship left the port without its captain.",
            "The ship left the port with its captain and two sailors.",
        ),
        (
            "Nhà máy chưa bao giờ xử lý nước thải trước khi xả ra sông.",
            "Nhà máy chưa bao giờ xử lý nước thải trước khi xả ra sông.",
            "Nhà máy xử lý nước thải trước khi xả ra sông.",
        ),
        (
            "Thành phố không tăng giá vé xe buýt trong năm nay.",
            "Thành phố không tăng giá vé xe buýt trong năm nay.",
            "Thành phố tăng giá vé xe buýt trong năm nay.",
        ),
        ("这座桥尚未对行人开放。", "这座桥尚未对行人开放。", "这座桥对行人开放。"),
        ("研究并未发现咖啡导致心脏病。", "研究并未发现咖啡导致心脏病。", "研究发现咖啡导致心脏病。"),
    ],
    "bounds": [
        (
            "At least 340 people were evacuated from the valley.",
            "At least 340 people were evacuated from the valley.",
            "At most 340 people were evacuated from the valley.",
        ),
        (
            "Nearly 5,000 houses lost power in the storm.",
            "Nearly 5,000 houses lost power in the storm.",
            "More than 5,000 houses lost power in the storm.",
        ),
        (
            "The museum has up to 900 visitors a day in summer.",
            "The museum has up to 900 visitors a day.",
            "The museum has at least 900 visitors a day.",
        ),
        (
            "Có ít nhất 120 học sinh tham gia cuộc thi vẽ.",
            "Ít nhất 120 học sinh tham gia cuộc thi vẽ.",
            "Gần 120 học sinh tham gia cuộc thi vẽ.",
        ),
        (
            "Hồ chứa hơn 30 triệu mét khối nước.",
            "Hồ chứa hơn 30 triệu mét khối nước.",
            "Hồ chứa dưới 30 triệu mét khối nước.",
        ),
        ("至少有300名工人参加了罢工。", "至少有300名工人参加了罢工。", "不到300名工人参加了罢工。"),
        ("图书馆藏书超过80万册。", "图书馆藏书超过80万册。", "图书馆藏书近80万册。"),
    ],
    "ordinals and superlatives": [
        (
            "Oslen is the second-largest city of the province.",
            "Oslen is the second-largest city of the province.",
            "Oslen is the largest city of the province.",
        ),
        (
            "Mara Voss was the first woman to lead the polar institute.",
            "Mara Voss was the first woman to lead the polar institute.",
            "Mara Voss was the third woman to lead the polar institute.",
        ),
        (
            "It is the tallest wooden tower in northern Europe.",
            "It is the tallest wooden tower in northern Europe.",
            "It is the tallest tower in northern Europe.",
        ),
        (
            "Đây là cây cầu dài thứ hai của cả nước.",
            "Đây là cây cầu dài thứ hai của cả nước.",
            "Đây là cây cầu dài nhất của cả nước.",
        ),
        ("该省是全国第二大产茶区。", "该省是全国第二大产茶区。", "该省是全国最大产茶区。"),
    ],
    "quantifiers": [
        (
            "Most farmers in the delta grow rice and lotus.",
            "Most farmers in the delta grow rice and lotus.",
            "All farmers in the delta grow rice and lotus.",
        ),
        (
            "Some of the manuscripts were written by monks in Reims.",
            "Some of the manuscripts were written by monks in Reims.",
            "The manuscripts were written by monks in Reims.",
        ),
        (
            "The ferry carries cars and bicycles in winter.",
            "The ferry carries cars and bicycles in winter.",
            "The ferry carries only cars and bicycles in winter.",
        ),
        (
            "Few teachers support the new timetable of the ministry.",
            "Few teachers support the new timetable of the ministry.",
            "Many teachers support the new timetable of the ministry.",
        ),
        (
            "Hầu hết các hộ dân trong làng làm gốm.",
            "Hầu hết các hộ dân trong làng làm gốm.",
            "Tất cả các hộ dân trong làng làm gốm.",
        ),
        (
            "Một số trường học đóng cửa vì bão.",
            "Một số trường học đóng cửa vì bão.",
            "Tất cả trường học đóng cửa vì bão.",
        ),
        ("大多数村民种植茶叶。", "大多数村民种植茶叶。", "所有村民种植茶叶。"),
        ("该岛的居民从事渔业。", "该岛的居民从事渔业。", "只有该岛的居民从事渔业。"),
    ],
    "hedges": [
        (
            "Drinking the water may cause headaches in children.",
            "Drinking the water may cause headaches in children.",
            "Drinking the water causes headaches in children.",
        ),
        (
            "The painting is thought to show the wife of the mayor.",
            "The painting is thought to show the wife of the mayor.",
            "The painting shows the wife of the mayor.",
        ),
        (
            "The results suggest that bees prefer blue flowers in spring.",
            "The results suggest that bees prefer blue flowers in spring.",
            "Bees prefer blue flowers in spring.",
        ),
        (
            "Thuốc này có thể gây buồn ngủ ở người già.",
            "Thuốc này có thể gây buồn ngủ ở người già.",
            "Thuốc này gây buồn ngủ ở người già.",
        ),
        ("这种药可能引起头痛。", "这种药可能引起头痛。", "这种药引起头痛。"),
        ("据称该公司隐瞒了事故。", "据称该公司隐瞒了事故。", "该公司隐瞒了事故。"),
    ],
    "plans and conditions": [
        (
            "The airline plans to open a base in Porto next year.",
            "The airline plans to open a base in Porto.",
            "The airline opened a base in Porto.",
        ),
        (
            "If the council agrees, the tram line will reach the hospital.",
            "If the council agrees, the tram line will reach the hospital.",
            "The tram line will reach the hospital.",
        ),
        (
            "The minister said the strike would end, unless wages fall again.",
            "The strike would end, unless wages fall again.",
            "The strike ended.",
        ),
        (
            "Tỉnh dự kiến xây thêm hai bệnh viện ở vùng núi.",
            "Tỉnh dự kiến xây thêm hai bệnh viện ở vùng núi.",
            "Tỉnh xây thêm hai bệnh viện ở vùng núi.",
        ),
        ("公司计划在成都建造新工厂。", "公司计划在成都建造新工厂。", "公司在成都建造新工厂。"),
        ("如果天气允许，火箭将会在周五发射。", "如果天气允许，火箭将会在周五发射。", "火箭将会在周五发射。"),
    ],
    "who says so": [
        (
            "The mayor claims that the bridge was sabotaged by its builders.",
            "The mayor claims that the bridge was sabotaged by its builders.",
            "The bridge was sabotaged by its builders.",
        ),
        (
            "Ông giám đốc cáo buộc kế toán lấy tiền của công ty.",
            "Ông giám đốc cáo buộc kế toán lấy tiền của công ty.",
            "Kế toán lấy tiền của công ty.",
        ),
        ("厂长声称机器没有问题。", "厂长声称机器没有问题。", "机器没有问题。"),
    ],
    "opposites and other words": [
        (
            "Exports of copper increased sharply after the reform.",
            "Exports of copper increased after the reform.",
            "Exports of copper decreased sharply after the reform.",
        ),
        (
            "The temple was restored before the earthquake of 1755.",
            "The temple was restored before the earthquake of 1755.",
            "The temple was restored after the earthquake of 1755.",
        ),
        (
            "The school was founded by a widow from Ghent.",
            "The school was founded by a widow from Ghent.",
            "The school was founded by a merchant from Ghent.",
        ),
        (
            "Smoking is associated with hearing loss in men.",
            "Smoking is associated with hearing loss in men.",
            "Smoking causes hearing loss in men.",
        ),
        (
            "Sản lượng cà phê của tỉnh tăng mạnh trong năm 2021.",
            "Sản lượng cà phê của tỉnh tăng trong năm 2021.",
            "Sản lượng cà phê của tỉnh giảm mạnh trong năm 2021.",
        ),
        ("该市人口在2010年以后增加。", "该市人口在2010年以后增加。", "该市人口在2010年以前增加。"),
    ],
    "numbers, dates and names": [
        (
            "The dam was finished in 1958 and holds 12 billion litres.",
            "The dam holds 12 billion litres.",
            "The dam holds 1958 litres.",
        ),
        (
            "In 1990 the club had 300 members and in 2000 it had 450 members.",
            "In 1990 the club had 300 members.",
            "In 1990 the club had 450 members.",
        ),
        (
            "The novel won the Alder Prize in 1974.",
            "The novel won the Alder Prize in 1974.",
            "The novel won the Alder Prize in 1984.",
        ),
        (
            "Cuốn sách được xuất bản ở Huế năm 1936.",
            "Năm 1936, cuốn sách được xuất bản ở Huế.",
            "Năm 1938, cuốn sách được xuất bản ở Huế.",
        ),
        ("该馆于1952年在南京建成。", "该馆于1952年在南京建成。", "该馆于1952年在北京建成。"),
    ],
}
ROWS = [(kind, *row) for kind, rows in KINDS.items() for row in rows]


@pytest.mark.parametrize(("kind", "page", "true", "untrue"), ROWS)
def test_what_follows_from_a_page_is_supported_and_what_does_not_is_not(
    kind: str, page: str, true: str, untrue: str
) -> None:
    assert judge(true, page).verdict == "supported", kind
    assert judge(untrue, page).verdict != "supported", kind


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        ("About 1.2 million people live there.", "About 1,200,000 people live there."),
        ("那里约有120万人居住。", "那里约有1,200,000人居住。"),
        ("Khoảng 1,2 triệu người sống ở đó.", "Khoảng 1.200.000 người sống ở đó."),
        ("The box has pens, paper, ink and a ruler.", "The box has ink, pens, a ruler and paper."),
        ("The law (called the Salt Act) was repealed in 1901.", "The law was repealed in 1901."),
        ("The mill, which belonged to Ann Hoyle, burnt down in 1866.", "The mill burnt down in 1866."),
        ("In March 1920 the two villages were merged.", "The two villages were merged in March 1920."),
        ("The movie was shot in the Detva district.", "The film was shot in the district of Detva."),
        ("The colour of the theatre is gray.", "The color of the theater is grey."),
        ("The United States bought the island.", "The U.S. bought the island."),
    ],
)
def test_other_notations_and_orders_that_change_nothing_are_supported(page: str, claim: str) -> None:
    assert judge(claim, page).verdict == "supported"


def test_what_is_missing_is_named_in_words_of_the_statement() -> None:
    page = "The lighthouse was built in 1871 by the engineer Paul Brandt on the western cliff."
    found = judge("The lighthouse was built in 1871 by the engineer Paul Brandt with granite from Norway.", page)
    assert (found.verdict, found.missing) == ("partial", "granite; Norway")
    assert found.quote == page
    hedged = judge("All of the birds nest on the cliff.", "Most of the birds nest on the cliff.")
    assert (hedged.verdict, hedged.missing) == ("partial", "All")


def test_the_words_that_stand_against_each_other_are_found_in_the_block_and_on_the_page() -> None:
    page = "News.\n\nThe harbour was closed in May 1912 after a storm."
    text = "It is known. The **harbour** was closed in May 1921 after a storm [1][1]."
    found = check_citations(text, sources_of(page))
    for citation in found:
        assert citation.verdict == "contradicted"
        [difference] = citation.differences
        assert text[difference.start : difference.end] == "May 1921"
        assert page[difference.quote_start : difference.quote_end] == "May 1912"


@pytest.mark.parametrize(
    ("page", "claim", "missing"),
    [
        ("The tower was built in 1890 and is open to visitors of the town.", "Tháp được xây năm 1890.", "tiếng Anh"),
        ("The tower was built in 1890 and is open to visitors of the town.", "Tháp được xây năm 1895.", "1895"),
        ("Tháp được xây dựng vào năm 1890 và mở cửa đón khách.", "The tower was built in 1890.", "in Vietnamese"),
        ("该塔建于1890年，对游客开放。", "The tower was built in 1890.", "in Chinese"),
        ("The tower was built in 1890 and is open to visitors of the town.", "该塔建于1890年。", "英文"),
        ("Башня была построена в 1890 году и открыта для посетителей.", "The tower was built in 1890.", "another"),
        ("Der Turm wurde 1890 gebaut und ist für die Besucher der Stadt offen. " * 9, "It is in the town.", "another"),
    ],
)
def test_a_statement_in_another_language_than_its_page_is_partial_with_the_reason(
    page: str, claim: str, missing: str
) -> None:
    found = judge(claim, page)
    assert found.verdict == "partial"
    assert missing in (found.missing or "")


def test_a_name_in_another_spelling_is_no_contradiction() -> None:
    page = "The Magherus River is a tributary of the Giuroc River in the west of the country."
    claim = "The Măgheruș River is a tributary of the Giuroc River in the west of the country."
    assert judge(claim, page).verdict != "contradicted"
