"""Statements that are worded otherwise than their page and say the same, and the same with one thing changed."""

import pytest

from evidence.samples import sources_of
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Citation


def judge(claim: str, page: str) -> Citation:
    [citation] = check_citations(f"> {claim} [1]", sources_of(page))
    return citation


ROWS = [
    (
        "Northwind acquired the Danish rival Halden in 2014 for 40 million euros.",
        "Northwind bought its Danish rival Halden in 2014 for 40 million euros.",
        "Northwind sold its Danish rival Halden in 2014 for 40 million euros.",
    ),
    (
        "Founded in 1998 in Lund, Northwind makes valves for pumps.",
        "Northwind was founded in Lund in 1998.",
        "Northwind was founded in Malmö in 1998.",
    ),
    (
        "Born in Regueira, Patrick played as a goalkeeper.",
        "Patrick was born in Regueira.",
        "Patrick was born in Lisbon.",
    ),
    (
        "Designed by the architect Lena Moor, the tower opened in 1931.",
        "The tower was designed by the architect Lena Moor.",
        "The architect Lena Moor was designed by the tower.",
    ),
    (
        "Mindy Kaling is an actress. Kaling's mother, Swati, died in 2012.",
        "Mindy Kaling's mother died in 2012.",
        "Ruth Kaling's mother died in 2012.",
    ),
    (
        "The World Meteorological Organization (WMO) was founded in 1950. The WMO has its seat in Geneva.",
        "The World Meteorological Organization has its seat in Geneva.",
        "The World Trade Organization has its seat in Geneva.",
    ),
    (
        "The dam was completed in 1963 and supplies power to 400,000 homes.",
        "The dam was finished in 1963 and provides power to 400,000 homes.",
        "The dam was started in 1963 and provides power to 400,000 homes.",
    ),
    (
        "Approximately 62,000 vehicles cross the bridge each day.",
        "About 62,000 vehicles cross the bridge every day.",
        "About 52,000 vehicles cross the bridge every day.",
    ),
    (
        "In 2011, the parliament passed a law that bans plastic bags.",
        "The parliament passed a law banning plastic bags in 2011.",
        "The parliament passed a law banning plastic bags in 2012.",
    ),
    (
        "Maria Costa, the head of the agency, resigned on 3 May 2019.",
        "Maria Costa, who heads the agency, resigned on May 3, 2019.",
        "Maria Costa, who heads the agency, resigned on May 5, 2019.",
    ),
    (
        "The river is 320 kilometres long and flows into the Baltic Sea.",
        "The river, which flows into the Baltic Sea, is 320 km long.",
        "The river, which flows into the Baltic Sea, is 230 km long.",
    ),
    (
        "The city had a population of 54,300 in 2021.",
        "In 2021 the city had 54,300 inhabitants.",
        "In 2021 the city had 45,300 inhabitants.",
    ),
    (
        "The city has a population of 54,300.",
        "The population of the city is 54,300.",
        "The population of the city is 45,300.",
    ),
    ("The tower is 212 metres tall.", "The tower has a height of 212 metres.", "The tower has a height of 221 metres."),
    (
        "Sales increased by 12 percent to 3.4 billion euros in 2020.",
        "Sales rose 12% to €3.4 billion in 2020.",
        "Sales fell 12% to €3.4 billion in 2020.",
    ),
    (
        "The vaccine was approved by the agency in March 2021.",
        "In March 2021, the agency approved the vaccine.",
        "In March 2021, the agency rejected the vaccine.",
    ),
    (
        "The agency approved the vaccine in March 2021.",
        "The vaccine was approved by the agency in March 2021.",
        "The vaccine was approved by the agency in March 2022.",
    ),
    (
        "The team won the cup in 1987, 1991 and 2003.",
        "The team won the cup in 1987, 1991, and 2003.",
        "The team won the cup in 1987, 1992 and 2003.",
    ),
    (
        "Einar Lund is a Norwegian painter. He studied in Paris from 1901 to 1904.",
        "Einar Lund studied in Paris between 1901 and 1904.",
        "Einar Lund studied in Berlin between 1901 and 1904.",
    ),
    (
        "The novel was published in 1954 by Orion Press.",
        "Orion Press published the novel in 1954.",
        "Orion Press rejected the novel in 1954.",
    ),
    (
        "The factory produces more than 500 cars per day.",
        "The factory makes over 500 cars a day.",
        "The factory makes over 800 cars a day.",
    ),
    (
        "The law took effect on 1 January 2020.",
        "The law came into force on January 1, 2020.",
        "The law came into force on January 1, 2021.",
    ),
    (
        "The fire destroyed most of the old town in 1842.",
        "In 1842, a fire destroyed most of the old town.",
        "In 1842, a flood destroyed most of the old town.",
    ),
    (
        "He served as minister of finance from 2004 until 2009.",
        "He was finance minister from 2004 to 2009.",
        "He was finance minister from 2004 to 2007.",
    ),
    (
        "The lake lies in the south of the country.",
        "The lake is located in the south of the country.",
        "The lake is located in the north of the country.",
    ),
    (
        "Coffee exports currently account for 30 percent of the country's income.",
        "Coffee exports account for 30% of the country's income.",
        "Coffee exports account for 13% of the country's income.",
    ),
    (
        "The island was discovered by Dutch sailors in 1722.",
        "Dutch sailors discovered the island in 1722.",
        "Dutch sailors discovered the island in 1772.",
    ),
    (
        "The orchestra was led by Hans Berg until 1999.",
        "Until 1999, Hans Berg led the orchestra.",
        "Until 1989, Hans Berg led the orchestra.",
    ),
    (
        "The airline operates flights to 45 destinations.",
        "The airline flies to 45 destinations.",
        "The airline flies to 54 destinations.",
    ),
    (
        "The film premiered on 5 June 2009 in Cannes.",
        "The film had its premiere in Cannes on 5 June 2009.",
        "The film had its premiere in Berlin on 5 June 2009.",
    ),
    (
        "The government raised the minimum wage to 15 dollars an hour in 2022.",
        "The minimum wage was raised to $15 an hour in 2022.",
        "The minimum wage was raised to $13 an hour in 2022.",
    ),
    ("Its headquarters are in Oslo.", "It is headquartered in Oslo.", "It is headquartered in Bergen."),
    (
        "Northwind is a Norwegian company headquartered in Oslo.",
        "Northwind is a Norwegian company based in Oslo.",
        "Northwind is a Norwegian company based in Bergen.",
    ),
    (
        "Lena Moor, a Swiss architect, designed the hall.",
        "The hall was designed by the Swiss architect Lena Moor.",
        "The hall was designed by the Swedish architect Lena Moor.",
    ),
    (
        "The storm killed 31 people and left 4,000 homeless.",
        "The storm killed 31 people and made 4,000 homeless.",
        "The storm killed 13 people and made 4,000 homeless.",
    ),
    (
        "The bridge was closed to traffic for eight months.",
        "The bridge was shut to traffic for eight months.",
        "The bridge was open to traffic for eight months.",
    ),
    (
        "Scientists discovered the fossil in 2012.",
        "The fossil was discovered in 2012.",
        "The fossil was discovered in 2011.",
    ),
    (
        "Cầu được khánh thành vào ngày 19 tháng 5 năm 2009.",
        "Cầu được khánh thành ngày 19/5/2009.",
        "Cầu được khánh thành ngày 9/5/2009.",
    ),
    (
        "Nhà máy sản xuất khoảng 500 chiếc xe mỗi ngày.",
        "Mỗi ngày nhà máy sản xuất chừng 500 chiếc xe.",
        "Mỗi ngày nhà máy sản xuất chừng 800 chiếc xe.",
    ),
    (
        "Bảo tàng nằm ở trung tâm Hà Nội và lưu giữ 4.000 bức tranh.",
        "Bảo tàng tọa lạc ở trung tâm Hà Nội và lưu giữ 4.000 bức tranh.",
        "Bảo tàng tọa lạc ở trung tâm Huế và lưu giữ 4.000 bức tranh.",
    ),
    (
        "Cuốn tiểu thuyết được nhà xuất bản Trẻ phát hành năm 1998.",
        "Nhà xuất bản Trẻ phát hành cuốn tiểu thuyết năm 1998.",
        "Nhà xuất bản Trẻ phát hành cuốn tiểu thuyết năm 1989.",
    ),
    (
        "Sông dài 320 km và đổ ra biển Đông.",
        "Con sông có chiều dài 320 km và đổ ra biển Đông.",
        "Con sông có chiều dài 230 km và đổ ra biển Đông.",
    ),
    (
        "Doanh thu tăng 12% lên 3,4 tỷ đồng trong năm 2020.",
        "Trong năm 2020, doanh thu tăng 12% lên 3,4 tỷ đồng.",
        "Trong năm 2020, doanh thu giảm 12% xuống 3,4 tỷ đồng.",
    ),
    ("Trận lũ khiến 31 người thiệt mạng.", "Trận lũ làm 31 người chết.", "Trận lũ làm 13 người chết."),
    ("Đập được hoàn thành vào năm 1963.", "Con đập được hoàn tất năm 1963.", "Con đập được hoàn tất năm 1936."),
    (
        "Tổ chức Y tế Thế giới (WHO) được thành lập năm 1948. WHO có trụ sở tại Geneva.",
        "Tổ chức Y tế Thế giới có trụ sở tại Geneva.",
        "Tổ chức Thương mại Thế giới có trụ sở tại Geneva.",
    ),
    (
        "Nhà khoa học người Pháp Louis Pasteur phát hiện ra vắc xin này năm 1885.",
        "Vắc xin này được nhà khoa học người Pháp Louis Pasteur phát hiện ra năm 1885.",
        "Vắc xin này được nhà khoa học người Đức Louis Pasteur phát hiện ra năm 1885.",
    ),
    (
        "Ông Nguyễn Văn Bình sinh năm 1961 tại Phú Thọ. Ông học ở Hà Nội.",
        "Nguyễn Văn Bình học ở Hà Nội.",
        "Nguyễn Văn Bình học ở Huế.",
    ),
    ("东风公司于2016年收购了远大公司。", "远大公司于2016年被东风公司收购。", "东风公司于2016年被远大公司收购。"),
    ("该厂每天生产大约500辆汽车。", "该工厂每天生产约500辆汽车。", "该工厂每天生产约800辆汽车。"),
    ("2021年，该市人口为54300人。", "2021年，该市有人口5.43万人。", "2021年，该市有人口4.53万人。"),
    (
        "博物馆位于巴塞尔市中心，收藏了4000幅画作。",
        "博物馆坐落在巴塞尔市中心，藏有4000幅画作。",
        "博物馆坐落在苏黎世市中心，藏有4000幅画作。",
    ),
    ("这部小说由猎户出版社于1954年出版。", "猎户出版社于1954年出版了这部小说。", "猎户出版社于1945年出版了这部小说。"),
    ("这条河全长320公里，流入波罗的海。", "这条河长320公里，注入波罗的海。", "这条河长230公里，注入波罗的海。"),
    ("洪水造成31人死亡。", "洪水导致31人遇难。", "洪水导致13人遇难。"),
    (
        "水坝于1963年建成，为40万户家庭供电。",
        "水坝在1963年完工，为40万户家庭供电。",
        "水坝在1963年停工，为40万户家庭供电。",
    ),
    (
        "世界气象组织（WMO）成立于1950年。WMO总部设在日内瓦。",
        "世界气象组织总部设在日内瓦。",
        "世界贸易组织总部设在日内瓦。",
    ),
    (
        "法国科学家巴斯德在1885年发明了这种疫苗。",
        "这种疫苗是法国科学家巴斯德在1885年发明的。",
        "这种疫苗是德国科学家巴斯德在1885年发明的。",
    ),
]
"""Each row: what the page says, the same in other words, and something else in the same words."""


@pytest.mark.parametrize(("page", "true", "untrue"), ROWS)
def test_light_rewording_is_supported_and_a_changed_detail_is_not(page: str, true: str, untrue: str) -> None:
    assert judge(true, page).verdict == "supported"
    assert judge(untrue, page).verdict != "supported"


@pytest.mark.parametrize(
    ("page", "untrue"),
    [
        (
            "Northwind acquired the Danish rival Halden in 2014 for 40 million euros.",
            "Northwind sold its Danish rival Halden in 2014 for 40 million euros.",
        ),
        (
            "The World Meteorological Organization (WMO) was founded in 1950. The WMO has its seat in Geneva.",
            "The World Trade Organization has its seat in Geneva.",
        ),
        (
            "The dam was completed in 1963 and supplies power to 400,000 homes.",
            "The dam was started in 1963 and provides power to 400,000 homes.",
        ),
        (
            "Approximately 62,000 vehicles cross the bridge each day.",
            "About 52,000 vehicles cross the bridge every day.",
        ),
        ("The bridge carries roughly 62,000 vehicles a day.", "About 52,000 vehicles cross the bridge daily."),
        (
            "The museum, which is located in Basel, houses 4,000 paintings.",
            "The museum in Basel holds 40,000 paintings.",
        ),
        (
            "In 2011, the parliament passed a law that bans plastic bags.",
            "The parliament passed a law banning plastic bags in 2012.",
        ),
        (
            "Maria Costa, the head of the agency, resigned on 3 May 2019.",
            "Maria Costa, who heads the agency, resigned on May 5, 2019.",
        ),
        (
            "The river is 320 kilometres long and flows into the Baltic Sea.",
            "The river, which flows into the Baltic Sea, is 230 km long.",
        ),
        ("Sales increased by 12 percent to 3.4 billion euros in 2020.", "Sales fell 12% to €3.4 billion in 2020."),
        ("The agency approved the vaccine in March 2021.", "The vaccine was approved by the agency in March 2022."),
        ("The team won the cup in 1987, 1991 and 2003.", "The team won the cup in 1987, 1992 and 2003."),
        (
            "Einar Lund is a Norwegian painter. He studied in Paris from 1901 to 1904.",
            "Einar Lund studied in Berlin between 1901 and 1904.",
        ),
        ("The law took effect on 1 January 2020.", "The law came into force on January 1, 2021."),
        ("He served as minister of finance from 2004 until 2009.", "He was finance minister from 2004 to 2007."),
        ("The lake lies in the south of the country.", "The lake is located in the north of the country."),
        (
            "Coffee exports currently account for 30 percent of the country's income.",
            "Coffee exports account for 13% of the country's income.",
        ),
        ("The island was discovered by Dutch sailors in 1722.", "Dutch sailors discovered the island in 1772."),
        ("The orchestra was led by Hans Berg until 1999.", "Until 1989, Hans Berg led the orchestra."),
        ("The airline operates flights to 45 destinations.", "The airline flies to 54 destinations."),
        (
            "The government raised the minimum wage to 15 dollars an hour in 2022.",
            "The minimum wage was raised to $13 an hour in 2022.",
        ),
        (
            "Northwind is a Norwegian company headquartered in Oslo.",
            "Northwind is a Norwegian company based in Bergen.",
        ),
        ("The storm killed 31 people and left 4,000 homeless.", "The storm killed 13 people and made 4,000 homeless."),
        ("The bridge was closed to traffic for eight months.", "The bridge was open to traffic for eight months."),
        (
            "The mine closed in 2003, putting 800 people out of work.",
            "The mine was closed in 2003, and 900 people lost their jobs.",
        ),
        ("Scientists discovered the fossil in 2012.", "The fossil was discovered in 2011."),
        ("Nhà máy sản xuất khoảng 500 chiếc xe mỗi ngày.", "Mỗi ngày nhà máy sản xuất chừng 800 chiếc xe."),
        (
            "Bảo tàng nằm ở trung tâm Hà Nội và lưu giữ 4.000 bức tranh.",
            "Bảo tàng tọa lạc ở trung tâm Huế và lưu giữ 4.000 bức tranh.",
        ),
        (
            "Cuốn tiểu thuyết được nhà xuất bản Trẻ phát hành năm 1998.",
            "Nhà xuất bản Trẻ phát hành cuốn tiểu thuyết năm 1989.",
        ),
        ("Sông dài 320 km và đổ ra biển Đông.", "Con sông có chiều dài 230 km và đổ ra biển Đông."),
        ("Doanh thu tăng 12% lên 3,4 tỷ đồng trong năm 2020.", "Trong năm 2020, doanh thu giảm 12% xuống 3,4 tỷ đồng."),
        (
            "Nhà khoa học người Pháp Louis Pasteur phát hiện ra vắc xin này năm 1885.",
            "Vắc xin này được nhà khoa học người Đức Louis Pasteur phát hiện ra năm 1885.",
        ),
        ("该厂每天生产大约500辆汽车。", "该工厂每天生产约800辆汽车。"),
        ("2021年，该市人口为54300人。", "2021年，该市有人口4.53万人。"),
        ("博物馆位于巴塞尔市中心，收藏了4000幅画作。", "博物馆坐落在苏黎世市中心，藏有4000幅画作。"),
        ("这部小说由猎户出版社于1954年出版。", "猎户出版社于1945年出版了这部小说。"),
        ("这条河全长320公里，流入波罗的海。", "这条河长230公里，注入波罗的海。"),
        ("洪水造成31人死亡。", "洪水导致13人遇难。"),
    ],
)
def test_another_number_year_or_direction_is_contradicted_in_other_words_too(page: str, untrue: str) -> None:
    assert judge(untrue, page).verdict == "contradicted"


@pytest.mark.parametrize(
    ("page", "claim"),
    [
        # Another time, another part, a bound that allows both, and a number that the page has elsewhere.
        ("In 1990 the bridge carried 62,000 vehicles a day.", "52,000 vehicles cross the bridge each day."),
        ("The old bridge at Lund carries 62,000 vehicles.", "52,000 vehicles cross the bridge at Malmö."),
        ("The factory produces more than 500 cars a day.", "The factory makes over 800 cars a day."),
        (
            "The bridge carries 62,000 vehicles a day. On Sundays it is 52,000 vehicles.",
            "The bridge carries 52,000 vehicles.",
        ),
        ("The law has been in force since 2011.", "The law was passed in 2012."),
        ("The mine, opened before 1920, employed 300 men.", "The mine employed 300 men in 1931."),
        ("The city may reach 54,300 inhabitants.", "The city has 45,300 inhabitants."),
        ("The first stage of the dam was finished in 1961.", "The dam was finished in 1963."),
        ("Smith killed a guard in 1990.", "Smith died in 1990."),
        ("Swati is the mother of the singer Ruth Kaling. Kaling's mother died in 2012.", "Mindy Kaling's mother died."),
        ("Anna Lund sings. Per Lund paints. Lund studied in Oslo.", "Anna Lund studied in Oslo."),
        ("The senate was criticised by the court after it passed the law.", "The court was criticised by the senate."),
        ("Designed by Lena Moor, the tower crane stands in Basel.", "The tower was designed by Lena Moor."),
        ("Công ty Hòa Phát ở Hà Nội đã mua lại công ty Thép Việt.", "Công ty Hòa Phát được công ty Thép Việt mua lại."),
        ("东风公司于2016年收购了远大公司。", "东风公司于2016年被远大公司收购。"),
    ],
)
def test_what_only_looks_the_same_is_neither_supported_nor_contradicted(page: str, claim: str) -> None:
    assert judge(claim, page).verdict in ("partial", "unsupported")


@pytest.mark.parametrize(
    ("page", "claim", "missing"),
    [
        (
            "The chapel was built by Paul for his wife Martha in 1871.",
            "The chapel was built by Martha in 1871.",
            "built by Martha",
        ),
        ("The dogs chased the cats.", "The cats chased the dogs.", "chased the dogs"),
    ],
)
def test_what_is_said_of_others_is_missing_as_a_whole(page: str, claim: str, missing: str) -> None:
    found = judge(claim, page)
    assert (found.verdict, found.missing) == ("partial", missing)


@pytest.mark.parametrize(
    ("page", "claim", "words", "on_page"),
    [
        ("The town never had city walls before 1300.", "The town had city walls before 1300.", "had", "never"),
        ("Nobody in the old town survived the fire.", "Many in the old town survived the fire.", "Many", "Nobody"),
        ("The old city was flooded in 1953.", "The old city was never flooded in 1953.", "never", "flooded"),
        ("Roughly 62,000 vehicles cross the bridge.", "The bridge carries 52,000 vehicles.", "52,000", "62,000"),
        ("In 2011, the parliament banned plastic bags.", "Parliament banned plastic bags in 2012.", "2012", "2011"),
    ],
)
def test_the_words_that_stand_against_each_other_are_marked(page: str, claim: str, words: str, on_page: str) -> None:
    found = judge(claim, page)
    assert found.verdict == "contradicted"
    [difference] = found.differences
    assert f"> {claim} [1]"[difference.start : difference.end] == words
    assert page[difference.quote_start : difference.quote_end] == on_page
