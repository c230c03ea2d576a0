//! Changes seeds a little, always in the same way for the same start: bits, bytes, tokens
//! of other seeds, numbers at the edges, repetition.

/// Marsaglia's xorshift64*: small, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What breaks readers of many formats.
const EDGES: &[&[u8]] = &[
    b"0",
    b"-1",
    b"9223372036854775807",
    b"-9223372036854775808",
    b"9223372036854775808",
    b"18446744073709551616",
    b"1e400",
    b"-0",
    b"0.1",
    b"1e-9",
    b"null",
    b"true",
    b"\"\"",
    b"{}",
    b"[]",
    b"[[",
    b"{\"a\":",
    b"\\u0000",
    b"\\ud800",
    b"\\\"",
    b"\xff",
    b"\xf0\x9f\x9a\xa2",
    b"\xe2\x80\xa8",
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x80",
    b"/",
    b"%2F",
    b"%",
    b"..",
    b"//",
    b"$patch",
    b"delete",
    b"\n",
    b" ",
    b"\t",
    b",",
    b":",
    b"=",
    b"!=",
    b"(",
    b")",
    b"-",
    b"~1",
];

pub struct Mutator<'a> {
    random: Random,
    seeds: &'a [Vec<u8>],
    tokens: Vec<Vec<u8>>,
}

impl<'a> Mutator<'a> {
    pub fn new(start: u64, seeds: &'a [Vec<u8>]) -> Self {
        let word = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'$' | b'-' | b'_');
        let tokens = seeds.iter().flat_map(|seed| seed.split(word)).filter(|token| token.len() > 1);
        let mut tokens: Vec<Vec<u8>> = tokens.map(<[u8]>::to_vec).collect();
        tokens.sort();
        tokens.dedup();
        tokens.push(b"x".to_vec());
        Self { random: Random(start | 1), seeds, tokens }
    }

    /// A seed with one to six changes.
    pub fn next(&mut self, max_length: usize) -> Vec<u8> {
        let mut input = self.random.pick(self.seeds).clone();
        for _ in 0..=self.random.below(6) {
            self.change(&mut input);
        }
        input.truncate(max_length);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.below(input.len() + 1);
        let until = (at + 1 + self.random.below(12)).min(input.len()).max(at);
        match self.random.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.random.below(8),
            1 if at < input.len() => input[at] = self.random.next() as u8,
            2 => {
                input.drain(at..until);
            }
            3 => {
                let piece = self.random.pick(EDGES).to_vec();
                input.splice(at..at, piece);
            }
            4 => {
                let piece = self.random.pick(EDGES).to_vec();
                input.splice(at..until, piece);
            }
            5 => {
                let piece = self.random.pick(&self.tokens).clone();
                input.splice(at..until, piece);
            }
            6 => {
                let piece = input[at..until].repeat(1 + self.random.below(200));
                input.splice(at..at, piece);
            }
            7 => {
                let other = self.random.pick(self.seeds);
                let from = self.random.below(other.len() + 1);
                let to = (from + self.random.below(40)).min(other.len());
                let piece = other[from..to].to_vec();
                input.splice(at..until, piece);
            }
            _ => self.swap_number(input),
        }
    }

    /// Puts an edge in place of a number, which is where limits are.
    fn swap_number(&mut self, input: &mut Vec<u8>) {
        let starts: Vec<usize> = (0..input.len())
            .filter(|&at| input[at].is_ascii_digit() && (at == 0 || !input[at - 1].is_ascii_digit()))
            .collect();
        if starts.is_empty() {
            return;
        }
        let start = *self.random.pick(&starts);
        let end = start + input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let piece = self.random.pick(&EDGES[..10]).to_vec();
        input.splice(start..end, piece);
    }
}
