"""Statements with the words of their page about something that the page does not say them of."""

import pytest

from evidence.samples import sources_of
from footnote.evidence.verdict import check_citations
from footnote.protocol.sources import Citation


def judge(claim: str, page: str) -> Citation:
    [citation] = check_citations(f"> {claim} [1]", sources_of(page))
    return citation


@pytest.mark.parametrize(
    ("page", "untrue"),
    [
        (
            "The government raised the minimum wage after the unions raised their demands.",
            "The minimum wage raised the government.",
        ),
        ("The mayor fined the company that had polluted the river.", "The mayor was fined."),
        ("The court that convicted the mayor freed the company.", "The company was convicted."),
        ("The police arrested the son of the minister in 2011.", "The minister was arrested in 2011."),
        ("The agency approved the request of the company for a loan.", "The company was approved for a loan."),
        ("The dog bit the man who owned the house.", "The house was bitten."),
        ("Founded by monks in 1211, the abbey of the town Lund burned.", "The town Lund was founded by monks in 1211."),
        ("Written in 1912 for her brother, the poem made Anna Lund famous.", "Anna Lund was written in 1912."),
        ("The senate passed the law and the president signed the treaty.", "The treaty was passed by the senate."),
        ("The senate passed the law and the president signed the treaty.", "The law was signed by the president."),
        (
            "The city has a river of 200 km and the river has a population of fish.",
            "The population of the city is fish.",
        ),
        ("The village has a population of 300 and the town of 4,000.", "The village has 4,000 inhabitants."),
        ("The town has a population of 4,000, of whom 300 inhabitants are farmers.", "The town has 300 inhabitants."),
        (
            "The World Health Organization (WHO) warned the World Trade Organization (WTO).",
            "The World Trade Organization warned the WHO.",
        ),
        ("Lund (population 300) is near Malmö (MLM). MLM has 4,000 trees.", "Lund has 4,000 trees."),
        ("Marie Curie won two Nobel Prizes. Pierre Curie won one. Curie died in 1906.", "Marie Curie died in 1906."),
        (
            "John Adams was the second president. Adams died in 1826. Quincy Adams was the sixth.",
            "Quincy Adams died in 1826.",
        ),
        ("The bridge was closed to cars and opened to trains.", "The bridge was opened to cars."),
        ("Oxygen was discovered by Scheele and named by Lavoisier.", "Oxygen was discovered by Lavoisier."),
        ("The firm bought a mill from the town and sold the mill to a bank.", "The firm bought a mill from a bank."),
        ("The river, which floods the valley, is fed by the lake.", "The lake floods the valley."),
        ("Until 1999, the orchestra led by Berg toured; after that Lund led it.", "Until 1999 Lund led the orchestra."),
        (
            "From 1990 until 1995 he lived in Rome, and from 1996 until 2001 in Paris.",
            "He lived in Paris from 1990 to 1995.",
        ),
        ("The factory stopped producing cars in 1995.", "The factory produced cars in 1995."),
        ("He found the company unprofitable in 1998.", "He founded the company in 1998."),
        ("The company found oil in 1998.", "The company was founded in 1998."),
        ("The army left the town and seized the bridge.", "The army seized the town."),
        ("The law allows hunting in the north and bans fishing in the south.", "The law bans hunting in the south."),
        (
            "Approximately 30 percent of voters and nearly 60 percent of farmers agreed.",
            "About 60 percent of voters agreed.",
        ),
        (
            "The museum drew 1 million visitors a year and costs 3 million a month.",
            "The museum costs 3 million a year.",
        ),
        ("The train runs each week and the bus every day.", "The train runs daily."),
        (
            "Lena Moor, a friend of the Swiss architect Karl Berg, designed the hall.",
            "The Swiss architect Lena Moor designed the hall.",
        ),
        (
            "The Swiss architect Karl Berg, a friend of Lena Moor, designed the hall.",
            "Lena Moor, a Swiss architect, designed the hall.",
        ),
        (
            "Công ty Hòa Phát bị công ty Thép Việt kiện năm 2015 tại Hà Nội.",
            "Công ty Hòa Phát kiện công ty Thép Việt năm 2015 tại Hà Nội.",
        ),
        (
            "Công ty Hòa Phát ở Hà Nội kiện công ty Thép Việt trong năm 2015.",
            "Công ty Hòa Phát ở Hà Nội bị công ty Thép Việt kiện trong năm 2015.",
        ),
        ("远大公司被东风公司收购，东风公司被国家收购。", "远大公司被国家收购。"),
        ("老师批评了学生的父亲。", "学生被老师批评了。"),
        ("市长被记者指责，记者被警察逮捕。", "市长被警察逮捕。"),
        ("这座桥由法国公司设计，由德国公司建造。", "这座桥由法国公司建造。"),
        ("法国公司设计了这座桥，德国公司建造了隧道。", "这座桥由德国公司建造。"),
        (
            "The hospital treated the man, and the nurse was thanked by the family.",
            "The man was thanked by the family.",
        ),
        ("Sales rose 12 percent in Asia and fell 3 percent in Europe.", "Sales fell 12 percent in Europe."),
        ("The first part of the report was published in May.", "The report was published in May."),
        ("The son of the king of Spain was crowned in 1700.", "The king of Spain was crowned in 1700."),
        ("Most of the old town burned in 1842.", "The old town burned in 1842."),
        (
            "Con trai của vua được trao vương miện năm 1700 tại kinh đô.",
            "Vua được trao vương miện năm 1700 tại kinh đô.",
        ),
        ("The dam's first stage was finished in 1961.", "The dam was finished in 1961."),
        ("The population of Lund doubled in 1950.", "Lund doubled in 1950."),
        ("Smith's brother was arrested in 1990.", "Smith was arrested in 1990."),
        ("The company's rival was acquired by Halden in 2014.", "The company was acquired by Halden in 2014."),
        ("Supporters of the mayor were arrested in May.", "The mayor was arrested in May."),
        ("The house near the church was sold in 1990.", "The church was sold in 1990."),
        ("A book about the war was published in 1920.", "The war was published in 1920."),
        ("市长的儿子于2011年被捕。", "市长于2011年被捕。"),
        ("A museum in Lyon was robbed in 1999.", "Lyon was robbed in 1999."),
        ("Workers at the mine went on strike in 1984.", "The mine went on strike in 1984."),
        ("The city was founded by the brother of the king in 1211.", "The city was founded by the king in 1211."),
        ("Unlike Norway, Sweden joined the union in 1995.", "Norway joined the union in 1995."),
        ("公司的竞争对手于2014年被收购。", "公司于2014年被收购。"),
    ],
)
def test_what_a_passage_says_of_something_else_is_not_supported(page: str, untrue: str) -> None:
    """Another subject, another role, or another one of two things."""
    assert judge(untrue, page).verdict != "supported"


@pytest.mark.parametrize(
    ("page", "true"),
    [
        ("The city of Basel was flooded in 1953.", "Basel was flooded in 1953."),
        ("The dam's first stage was finished in 1961.", "The dam's first stage was finished in 1961."),
        ("In 1990, Smith, a painter, moved to Oslo.", "Smith moved to Oslo in 1990."),
        ("The district of Detva has four villages.", "The Detva district has four villages."),
        ("The WHO was founded in 1948.", "The World Health Organization was founded in 1948."),
    ],
)
def test_the_same_subject_in_other_words_is_supported(page: str, true: str) -> None:
    assert judge(true, page).verdict == "supported"
