"""Countries by their ISO codes, in the words of those providers that have words of their own for them."""


def _parse_table(text: str) -> dict[str, str]:
    return {entry[:2]: entry[3:] for entry in " ".join(text.split()).split(", ")}


DUCKDUCKGO_REGIONS = _parse_table(
    """AR ar-es, AT at-de, AU au-en, BE be-nl, BG bg-bg, BR br-pt, CA ca-en, CH ch-de, CL cl-es, CN cn-zh, CO co-es,
    CZ cz-cs, DE de-de, DK dk-da, EE ee-et, ES es-es, FI fi-fi, FR fr-fr, GB uk-en, GR gr-el, HK hk-tzh, HR hr-hr,
    HU hu-hu, ID id-en, IE ie-en, IL il-en, IN in-en, IS is-is, IT it-it, JP jp-jp, KR kr-kr, LT lt-lt, LV lv-lv,
    MX mx-es, MY my-en, NL nl-nl, NO no-no, NZ nz-en, PE pe-es, PH ph-en, PK pk-en, PL pl-pl, PT pt-pt, RO ro-ro,
    RU ru-ru, SA xa-ar, SE se-sv, SG sg-en, SI sl-sl, SK sk-sk, TH th-en, TR tr-tr, TW tw-tzh, UA ua-uk, US us-en,
    VN vn-en, ZA za-en"""
)
"""The values of `kl`: countries that are not in this list, it does not know."""

COUNTRY_LANGUAGES = _parse_table(
    """AR es, AT de, AU en, BE nl, BG bg, BR pt, CA en, CH de, CL es, CN zh, CO es, CZ cs, DE de, DK da, EE et, ES es,
    FI fi, FR fr, GB en, GR el, HK zh, HR hr, HU hu, ID id, IE en, IL he, IN en, IS is, IT it, JP ja, KR ko, LT lt,
    LV lv, MX es, MY ms, NL nl, NO nb, NZ en, PE es, PH en, PK en, PL pl, PT pt, RO ro, RU ru, SA ar, SE sv, SG en,
    SI sl, SK sk, TH th, TR tr, TW zh, UA uk, US en, VN vi, ZA en"""
)
"""The language that most is written in there, for engines that know a country only as part of a language."""

TAVILY_COUNTRIES = _parse_table(
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
"""The names that it takes; it refuses a request with any other."""
