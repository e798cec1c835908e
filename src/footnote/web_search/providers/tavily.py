"""Tavily, a search for language models. Its generated answer is switched off, because it has no footnotes."""

from footnote.web_search.providers import base, responses
from footnote.web_search.providers.base import HttpRequest, HttpResponse, WebProvider, json_request
from footnote.web_search.providers.outcomes import Outcome, Rate
from footnote.web_search.settings import ProviderAccess, SearchRequest

KEY_NAME = "TAVILY_API_KEY"
_COUNTRIES = base.country_table(
    """AD andorra, AE united arab emirates, AF afghanistan, AL albania, AM armenia, AO angola, AR argentina,
    AT austria, AU australia, AZ azerbaijan, BA bosnia and herzegovina, BB barbados, BD bangladesh, BE belgium,
    BF burkina faso, BG bulgaria, BH bahrain, BI burundi, BJ benin, BN brunei, BO bolivia, BR brazil, BS bahamas,
    BT bhutan, BW botswana, BY belarus, BZ belize, CA canada, CF central african republic, CG congo,
    CH switzerland, CL chile, CM cameroon, CN china, CO colombia, CR costa rica, CU cuba, CV cape verde, CY cyprus,
    CZ czech republic, DE germany, DJ djibouti, DK denmark, DO dominican republic, DZ algeria, EC ecuador,
    EE estonia, EG egypt, ER eritrea, ES spain, ET ethiopia, FI finland, FJ fiji, FR france, GA gabon,
    GB united kingdom, GE georgia, GH ghana, GM gambia, GN guinea, GQ equatorial guinea, GR greece, GT guatemala,
    HN honduras, HR croatia, HT haiti, HU hungary, ID indonesia, IE ireland, IL israel, IN india, IQ iraq, IR iran,
    IS iceland, IT italy, JM jamaica, JO jordan, JP japan, KE kenya, KG kyrgyzstan, KH cambodia, KM comoros,
    KP north korea, KR south korea, KW kuwait, KZ kazakhstan, LB lebanon, LI liechtenstein, LK sri lanka,
    LR liberia, LS lesotho, LT lithuania, LU luxembourg, LV latvia, LY libya, MA morocco, MC monaco, MD moldova,
    ME montenegro, MG madagascar, MK north macedonia, ML mali, MM myanmar, MN mongolia, MR mauritania, MT malta,
    MU mauritius, MV maldives, MW malawi, MX mexico, MY malaysia, MZ mozambique, NA namibia, NE niger, NG nigeria,
    NI nicaragua, NL netherlands, NO norway, NP nepal, NZ new zealand, OM oman, PA panama, PE peru,
    PG papua new guinea, PH philippines, PK pakistan, PL poland, PT portugal, PY paraguay, QA qatar, RO romania,
    RS serbia, RU russia, RW rwanda, SA saudi arabia, SD sudan, SE sweden, SG singapore, SI slovenia, SK slovakia,
    SN senegal, SO somalia, SS south sudan, SV el salvador, SY syria, TD chad, TG togo, TH thailand, TJ tajikistan,
    TM turkmenistan, TN tunisia, TR turkey, TT trinidad and tobago, TW taiwan, TZ tanzania, UA ukraine, UG uganda,
    US united states, UY uruguay, UZ uzbekistan, VE venezuela, VN vietnam, YE yemen, ZA south africa, ZM zambia,
    ZW zimbabwe"""
)
"""The names that Tavily accepts. It refuses a request with any other."""
_TIME_RANGES = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}


def build_request(request: SearchRequest, access: ProviderAccess) -> HttpRequest:
    notes: list[str] = []
    base.note_missing_safe_search(request.safe_search, notes)
    days = base.date_range(request.freshness)
    body = {
        "query": base.truncate_query(request.query, notes, max_characters=400),
        "max_results": request.count,
        "search_depth": "basic",
        "include_answer": False,
        "include_favicon": True,
        "country": base.map_option("country", request.country, _COUNTRIES, notes),
        "time_range": _TIME_RANGES.get(request.freshness or ""),
        "start_date": days and days[0],
        "end_date": days and days[1],
    }
    return json_request("/search", body, {"authorization": f"Bearer {access.api_key}"}, notes)


def parse_response(request: SearchRequest, response: HttpResponse) -> Outcome:
    if response.status in (432, 433):
        return responses.quota_outcome(response, "the credit of its key")
    if response.status != 200:
        return responses.status_outcome(response, KEY_NAME)
    rows = responses.object_rows(responses.json_object(response).get("results"), "results")
    return responses.outcome_of_rows(
        rows,
        request.count,
        response.received_at,
        description="content",
        published=("published_date",),
        favicon=lambda row: row.get("favicon"),
    )


provider = WebProvider(
    id="tavily",
    order=30,
    base_url="https://api.tavily.com",
    key_name=KEY_NAME,
    rate=Rate(100, 60.0),
    build_request=build_request,
    parse_response=parse_response,
)
