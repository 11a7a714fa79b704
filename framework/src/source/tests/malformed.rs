//! What is said about input that can't be read, and what becomes of it.

use super::*;

/// What a source gives of a file with these bytes; the input's name is left out of errors.
fn given<S: Source + Clone>(
    bytes: impl AsRef<[u8]>,
    source: impl FnOnce(PathBuf) -> S,
) -> std::result::Result<Given<S::Out>, String> {
    let dir = TempDir::new().with("x", bytes);
    let name = format!(" of {:?}", dir.file("x"));
    let strip = |text: String| text.replacen(&name, "", 1);
    match read(&source(dir.file("x")), (0, 1), &[9], &[false]) {
        Ok(given) => Ok(given.into_iter().map(|item| item.map_err(strip)).collect()),
        Err(error) => {
            assert!(Fatal::is(&*error), "{error}");
            Err(strip(error.to_string()))
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Car,
    Van,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Vehicle {
    kind: Kind,
    axles: u8,
    speed: Option<f64>,
}

impl Event for Vehicle {}

fn car(speed: Option<f64>) -> std::result::Result<Vehicle, String> {
    Ok(Vehicle { kind: Kind::Car, axles: 2, speed })
}

fn bad<T>(text: &str) -> std::result::Result<T, String> {
    Err(text.to_owned())
}

#[test]
fn a_bad_csv_record_is_named_by_line_column_and_value() {
    let csv = "axles,kind,speed\n\
        2,Car,1e2\n\
        NaN,Car,\n\
        2,Car\n\
        2,Car,1,2\n\
        300,Car,\n\
        -1,Car,\n\
        ,Car,\n\
        2,\"Bike\n\n\",\n\
        2,Car,fast\n\
        2,Car,NaN x\n\
        2,Car,\n";
    let expected = [
        car(Some(100.0)),
        bad("line 3: column \"axles\" is \"NaN\": invalid digit found in string"),
        bad("line 4: the number of columns is 2, but 3 in the header"),
        bad("line 5: the number of columns is 4, but 3 in the header"),
        bad("line 6: column \"axles\" is \"300\": number too large to fit in target type"),
        bad("line 7: column \"axles\" is \"-1\": invalid digit found in string"),
        bad("line 8: column \"axles\" is \"\": cannot parse integer from empty string"),
        bad(
            "line 9: column \"kind\" is \"Bike\\n\\n\": unknown variant `Bike  `, expected `Car` or `Van`",
        ),
        bad("line 12: column \"speed\" is \"fast\": invalid float literal"),
        bad("line 13: column \"speed\" is \"NaN x\": invalid float literal"),
        car(None),
    ];
    let all = given(csv, Csv::<Vehicle>::open).unwrap();
    for (given, expected) in all.iter().zip(&expected) {
        assert_eq!(given, expected);
    }
    assert_eq!(all.len(), expected.len());
}

#[test]
fn csv_that_is_not_utf_8_is_skipped_record_by_record() {
    let all = given(b"a,b\r\n\"\xff\n\",x\r\nx,\xc3\r\n\xc3,\xa4\r\nx,y\r\n", |path| {
        Csv::<(String, String)>::open(path)
    });
    let expected = [
        bad("line 2: column \"a\" is not UTF-8"),
        bad("line 4: column \"b\" is not UTF-8"),
        bad("line 5: column \"a\" is not UTF-8"),
        Ok(("x".into(), "y".into())),
    ];
    assert_eq!(all.unwrap(), expected);
}

#[test]
fn a_csv_quote_that_stays_open_is_told() {
    let all = given("n\n1\n\"2\n3\n", Csv::<u64>::open).unwrap();
    assert_eq!(all, [Ok(1), bad("line 3: a quote is not closed before the end of the input")]);
    let error = given("n\n1\n\"2\n3456789\n", |path| Csv::<u64>::open(path).max_record_bytes(5));
    let text = error.unwrap_err();
    assert!(
        text.starts_with("line 3: the record that begins here is longer than 5 bytes"),
        "{text}"
    );
}

#[test]
fn a_csv_header_that_does_not_fit_ends_it_all() {
    let text = given("\n\naxles,type\n1,Car\n", Csv::<Vehicle>::open).unwrap_err();
    let expected =
        "line 3: the header has no column \"kind\"; its columns are [\"axles\", \"type\"]";
    assert_eq!(text, expected);
    let text = given("axles,kind,axles\n1,Car,1\n", Csv::<Vehicle>::open).unwrap_err();
    assert!(text.starts_with("line 1: the header does not fit: duplicate field `axles`"), "{text}");
    assert_eq!(
        given(b"a,\xff\n1,2\n", Csv::<(u8, u8)>::open).unwrap_err(),
        "line 1: column 2 is not UTF-8"
    );
    // A column too many is no fault, and neither is one that may be empty.
    let all = given("axles,kind,color\n2,Car,red\n", Csv::<Vehicle>::open).unwrap();
    assert_eq!(all, [car(None)]);
}

#[test]
fn csv_without_a_header_goes_by_the_order_of_columns() {
    let all = given("1;x\n2\nz;y\n4;\"v;w\"\n", |path| {
        Csv::<(u64, String)>::open(path).headers(false).delimiter(b';')
    });
    let expected = [
        Ok((1, "x".into())),
        bad("line 2: the number of columns is 1, but 2 in the first record"),
        bad("line 3: column 1 is \"z\": invalid digit found in string"),
        Ok((4, "v;w".into())),
    ];
    assert_eq!(all.unwrap(), expected);
}

#[test]
fn csv_with_nothing_in_it_ends_at_once() {
    for text in ["", "\n\r\n", "\u{feff}", "kind,axles\n"] {
        assert_eq!(given(text, Csv::<Vehicle>::open), Ok(vec![]), "{text:?}");
    }
}

#[test]
fn a_delimiter_that_can_be_none_is_refused() {
    for delimiter in [b'"', b'\n', b'\r', 0xe4] {
        let error = Csv::<u64>::open("x").delimiter(delimiter).splits().unwrap_err().to_string();
        assert!(error.ends_with("can't separate the columns of a CSV file"), "{error}");
    }
}

#[test]
fn a_bad_ndjson_line_is_named_by_line_place_and_field() {
    let text = "{\"kind\":\"Car\",\"axles\":2}\n\
        \n\
        {\"kind\":\"Car\"}\r\n\
        {\"kind\":\"Car\",\"axles\":-2}\n\
        {\"kind\":\"Bike\",\"axles\":2}\n\
        {\"kind\":\"Car\",\"ax\n\
        \x20 7 \n\
        {\"kind\":\"Car\",\"axles\":2} x";
    let all = given(text, Ndjson::<Vehicle>::open).unwrap();
    let expected = [
        car(None),
        bad("line 3, column 14: missing field `axles`"),
        bad("line 4, column 24, axles: invalid value: integer `-2`, expected u8"),
        bad("line 5, column 14, kind: unknown variant `Bike`, expected `Car` or `Van`"),
        bad("line 6, column 17: EOF while parsing a string"),
        bad("line 7, column 3: invalid type: integer `7`, expected struct Vehicle"),
        bad("line 8, column 26: trailing characters"),
    ];
    for (given, expected) in all.iter().zip(&expected) {
        assert_eq!(given, expected);
    }
    assert_eq!(all.len(), expected.len());
}

#[test]
fn ndjson_that_is_not_utf_8_is_skipped_line_by_line() {
    let all = given(b"\"a\"\n\"\xff\"\n\"b\"\n", Ndjson::<String>::open).unwrap();
    let expected =
        [Ok("a".into()), bad("line 2, column 2: invalid unicode code point"), Ok("b".into())];
    assert_eq!(all, expected);
}

#[test]
fn an_ndjson_line_that_is_too_long_ends_it_all() {
    let text = given("1\n123456\n", |path| Ndjson::<u64>::open(path).max_line_bytes(5));
    assert!(text.unwrap_err().starts_with("line 2 is longer than 5 bytes"));
}

/// A column that holds a text with fields of its own.
#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
struct Parcel {
    id: u8,
    #[serde(deserialize_with = "in_json")]
    payload: std::collections::BTreeMap<String, Weight>,
}

#[derive(Clone, Debug, PartialEq, serde::Deserialize)]
struct Weight {
    grams: u32,
}

fn in_json<'de, D: serde::Deserializer<'de>, T: serde::de::DeserializeOwned>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text: String = serde::Deserialize::deserialize(deserializer)?;
    serde_json::from_str(&text).map_err(serde::de::Error::custom)
}

impl crate::Event for Parcel {}

#[test]
fn a_field_that_is_missing_inside_a_value_is_no_fault_of_the_header() {
    let text = "id,payload\n1,\"{\"\"a\"\":{\"\"grams\"\":7}}\"\n2,\"{\"\"a\"\":{}}\"\n3,{}\n";
    let all = given(text.as_bytes(), Csv::<Parcel>::open).unwrap();
    let ids: Vec<_> = all.iter().map(|one| one.as_ref().map(|parcel| parcel.id)).collect();
    let said = r#"line 3: column "payload" is "{\"a\":{}}": missing field `grams`"#;
    assert!(matches!(&ids[..], [Ok(1), Err(text), Ok(3)] if text.starts_with(said)), "{ids:?}");
}
