//! Keeps a browser inside the proxy: links in HTML and the Location header that point to
//! the backend's root are made to point below the proxy's own path
//! (apimachinery/pkg/util/proxy/transport.go upstream). Pure; `onward.rs` calls it.

/// The attributes that hold URLs, by element.
const URL_ATTRIBUTES: [(&str, &[&str]); 25] = [
    ("a", &["href"]),
    ("applet", &["codebase"]),
    ("area", &["href"]),
    ("audio", &["src"]),
    ("base", &["href"]),
    ("blockquote", &["cite"]),
    ("body", &["background"]),
    ("button", &["formaction"]),
    ("command", &["icon"]),
    ("del", &["cite"]),
    ("embed", &["src"]),
    ("form", &["action"]),
    ("frame", &["longdesc", "src"]),
    ("head", &["profile"]),
    ("html", &["manifest"]),
    ("iframe", &["longdesc", "src"]),
    ("img", &["longdesc", "src", "usemap"]),
    ("input", &["src", "usemap", "formaction"]),
    ("ins", &["cite"]),
    ("link", &["href"]),
    ("object", &["classid", "codebase", "data", "usemap"]),
    ("q", &["cite"]),
    ("script", &["src"]),
    ("source", &["src"]),
    ("video", &["poster", "src"]),
];

/// Elements whose content is text even where it looks like markup.
const RAW_TEXT: [&str; 8] = ["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"];

/// What the client's URLs look like, and the backend's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// What the proxy's path has before the backend's: `/api/v1/namespaces/a/pods/b/proxy`.
    pub prefix: String,
    /// The origin that rewritten links get; both are empty where the client's own stays.
    pub scheme: String,
    pub host: String,
    /// The backend as it is dialled.
    pub backend_host: String,
    /// The Host header that the backend sees, which it may use in its links.
    pub request_host: String,
}

impl Links {
    /// The URL as the client needs it, or `None` if it can stay: it is relative, or leads
    /// to another host.
    pub(crate) fn rewrite_url(&self, text: &str) -> Option<String> {
        let (scheme, rest) = split_scheme(text);
        let has_host = rest.starts_with("//") && (!scheme.is_empty() || !rest.starts_with("///"));
        let (host, rest) = if has_host {
            let after = &rest[2..];
            after.split_at(after.find(['/', '?', '#']).unwrap_or(after.len()))
        } else {
            ("", rest)
        };
        let (path, tail) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
        let bare = host.rsplit('@').next().unwrap_or_default();
        let elsewhere = !bare.is_empty() && bare != self.backend_host && bare != self.request_host;
        if elsewhere || !path.starts_with('/') {
            return None;
        }
        let keeps_origin = bare == self.request_host && self.scheme.is_empty() && self.host.is_empty();
        let (scheme, host) = if keeps_origin { (scheme, host) } else { (self.scheme.as_str(), self.host.as_str()) };
        let origin = match (scheme, host) {
            ("", "") => String::new(),
            ("", host) => format!("//{host}"),
            (scheme, host) => format!("{scheme}://{host}"),
        };
        let path = if path.starts_with(&self.prefix) { path.to_owned() } else { join_path(&self.prefix, path) };
        Some(format!("{origin}{path}{tail}"))
    }

    /// The page with its links rewritten; everything else stays byte for byte.
    pub(crate) fn rewrite_html(&self, html: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(html.len() + html.len() / 16);
        let mut at = 0;
        while let Some(open) = find(html, at, b"<") {
            out.extend_from_slice(&html[at..open]);
            at = match html.get(open + 1) {
                Some(b'!') if html[open..].starts_with(b"<!--") => copy_through(html, open, b"-->", &mut out),
                Some(b'!' | b'?' | b'/') => copy_through(html, open, b">", &mut out),
                Some(first) if first.is_ascii_alphabetic() => self.tag(html, open, &mut out),
                _ => {
                    out.push(b'<');
                    open + 1
                }
            };
        }
        out.extend_from_slice(&html[at..]);
        out
    }

    /// One start tag and, for elements of raw text, what it holds; gives where to go on.
    fn tag(&self, html: &[u8], open: usize, out: &mut Vec<u8>) -> usize {
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
        let name_end = html[open + 1..].iter().position(is_end).map_or(html.len(), |n| open + 1 + n);
        let name = String::from_utf8_lossy(&html[open + 1..name_end]).to_ascii_lowercase();
        let wanted = URL_ATTRIBUTES.iter().find(|(element, _)| *element == name).map_or(&[][..], |(_, list)| list);
        let mut copied = open;
        let mut at = name_end;
        let end = loop {
            while html.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'/') {
                at += 1;
            }
            match html.get(at) {
                None => break html.len(),
                Some(b'>') => break at + 1,
                Some(_) => {}
            }
            let attribute = Attribute::read(html, at);
            at = attribute.end;
            let key = String::from_utf8_lossy(&html[attribute.name.clone()]).to_ascii_lowercase();
            let Some(value) = attribute.value.filter(|_| wanted.contains(&key.as_str())) else { continue };
            let text = unescape(&String::from_utf8_lossy(&html[value.text.clone()]));
            if let Some(rewritten) = self.rewrite_url(&text).filter(|rewritten| *rewritten != text) {
                out.extend_from_slice(&html[copied..value.whole.start]);
                out.extend_from_slice(format!("\"{}\"", escape(&rewritten)).as_bytes());
                copied = value.whole.end;
            }
        };
        out.extend_from_slice(&html[copied..end]);
        if !RAW_TEXT.contains(&name.as_str()) {
            return end;
        }
        let closing = format!("</{name}");
        let close = (end..html.len()).find(|at| {
            html[*at..].get(..closing.len()).is_some_and(|tag| tag.eq_ignore_ascii_case(closing.as_bytes()))
        });
        let close = close.unwrap_or(html.len());
        out.extend_from_slice(&html[end..close]);
        close
    }
}

struct Attribute {
    name: std::ops::Range<usize>,
    value: Option<AttributeValue>,
    end: usize,
}

struct AttributeValue {
    text: std::ops::Range<usize>,
    /// With its quotes, if it has any.
    whole: std::ops::Range<usize>,
}

impl Attribute {
    fn read(html: &[u8], start: usize) -> Self {
        let stop = |from: usize, ends: fn(u8) -> bool| {
            html[from..].iter().position(|byte| ends(*byte)).map_or(html.len(), |n| from + n)
        };
        // A stray equals sign begins a name rather than ending an empty one.
        let from = (start + 1).min(html.len());
        let name_end = stop(from, |byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'>' | b'/'));
        let name = start..name_end;
        let after = stop(name_end, |byte| !byte.is_ascii_whitespace());
        if html.get(after) != Some(&b'=') {
            return Self { name, value: None, end: name_end };
        }
        let begin = stop(after + 1, |byte| !byte.is_ascii_whitespace());
        match html.get(begin) {
            Some(quote @ (b'"' | b'\'')) => {
                let close = find(html, begin + 1, &[*quote]).unwrap_or(html.len());
                let end = (close + 1).min(html.len());
                Self { name, value: Some(AttributeValue { text: begin + 1..close, whole: begin..end }), end }
            }
            _ => {
                let end = stop(begin, |byte| byte.is_ascii_whitespace() || byte == b'>');
                Self { name, value: Some(AttributeValue { text: begin..end, whole: begin..end }), end }
            }
        }
    }
}

fn find(text: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    text.get(from..)?.windows(needle.len()).position(|window| window == needle).map(|at| from + at)
}

fn copy_through(html: &[u8], from: usize, end: &[u8], out: &mut Vec<u8>) -> usize {
    let end = find(html, from + 1, end).map_or(html.len(), |at| at + end.len());
    out.extend_from_slice(&html[from..end]);
    end
}

fn split_scheme(text: &str) -> (&str, &str) {
    let Some((scheme, rest)) = text.split_once(':') else { return ("", text) };
    let mut bytes = scheme.bytes();
    let starts = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if starts && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
        (scheme, rest)
    } else {
        ("", text)
    }
}

/// Joins two paths without dots and doubled slashes; a slash at the end stays.
pub(crate) fn join_path(prefix: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in prefix.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let slash = if path.ends_with('/') && !parts.is_empty() { "/" } else { "" };
    format!("/{}{slash}", parts.join("/"))
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#34;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn escape(text: &str) -> String {
    let pairs = [("&", "&amp;"), ("'", "&#39;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&#34;")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links() -> Links {
        Links {
            prefix: "/proxy/p".into(),
            backend_host: "10.0.0.1:80".into(),
            request_host: "api:6443".into(),
            ..Links::default()
        }
    }

    fn check(html: &str, expect: &str) {
        assert_eq!(String::from_utf8_lossy(&links().rewrite_html(html.as_bytes())), expect);
    }

    #[test]
    fn urls_of_the_backend_lead_through_the_proxy() {
        let rewrite = |url: &str| links().rewrite_url(url);
        assert_eq!(rewrite("/a").as_deref(), Some("/proxy/p/a"));
        assert_eq!(rewrite("/a/?q=1#f").as_deref(), Some("/proxy/p/a/?q=1#f"));
        assert_eq!(rewrite("http://10.0.0.1:80/a").as_deref(), Some("/proxy/p/a"));
        assert_eq!(rewrite("http://api:6443/a").as_deref(), Some("http://api:6443/proxy/p/a"));
        assert_eq!(rewrite("/proxy/p/a").as_deref(), Some("/proxy/p/a"));
        for other in ["a", "", "http://elsewhere/a", "//elsewhere/a", "mailto:a@b", "#f"] {
            assert_eq!(rewrite(other), None, "{other}");
        }
        let aggregated = Links { scheme: "https".into(), host: "10.0.0.1:443".into(), ..Links::default() };
        assert_eq!(aggregated.rewrite_url("/a").as_deref(), Some("https://10.0.0.1:443/a"));
    }

    #[test]
    fn only_links_change_in_a_page() {
        check(r#"<a href="/rewriteme">test</a>"#, r#"<a href="/proxy/p/rewriteme">test</a>"#);
        check("<A Class=x HREF='/a?b=1&amp;c=2'>", r#"<A Class=x HREF="/proxy/p/a?b=1&amp;c=2">"#);
        check("<img src=/i.png alt=/x><p title=/y>", r#"<img src="/proxy/p/i.png" alt=/x><p title=/y>"#);
        check(
            "<!-- <a href='/a'> --><script>x = \"<a href='/a'>\"</script>",
            "<!-- <a href='/a'> --><script>x = \"<a href='/a'>\"</script>",
        );
        check("<a href='https://elsewhere/'>1 < 2</a", "<a href='https://elsewhere/'>1 < 2</a");
        check("<a href=\"/x", "<a href=\"/proxy/p/x\"");
        check("<!doctype html><a =><a href", "<!doctype html><a =><a href");
    }

    #[test]
    fn paths_are_joined_clean() {
        assert_eq!(join_path("/a", "/b//c/./d/"), "/a/b/c/d/");
        assert_eq!(join_path("/a", "/../b"), "/b");
        assert_eq!(join_path("", "/"), "/");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_can_be_a_page(html in proptest::collection::vec(proptest::sample::select(b"<>/=\"' ahref!-?&;".to_vec()), 0..80)) {
            let _ = links().rewrite_html(&html);
        }
    }
}
