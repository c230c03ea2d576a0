//! Columns of text as kubectl lays them out: Go's tabwriter with a minimum width of 6 and
//! three spaces between. Every printer of tables writes through it.

const MIN_WIDTH: usize = 6;
const PADDING: usize = 3;

/// Rows that line up. Widths only grow, so that the rows of a watch stand below those that
/// were printed before.
#[derive(Default, Debug)]
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
    widths: Vec<usize>,
}

impl Columns {
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The rows since the last call, laid out.
    pub(crate) fn take(&mut self) -> String {
        let rows = std::mem::take(&mut self.rows);
        for row in &rows {
            // The last cell of a line ends no column.
            for (i, cell) in row.iter().take(row.len().saturating_sub(1)).enumerate() {
                if self.widths.len() <= i {
                    self.widths.push(MIN_WIDTH);
                }
                self.widths[i] = self.widths[i].max(cell.chars().count() + PADDING);
            }
        }
        let mut out = String::new();
        for row in rows {
            let last = row.len().saturating_sub(1);
            for (i, cell) in row.iter().enumerate() {
                out.push_str(cell);
                if i < last {
                    out.extend(std::iter::repeat_n(' ', self.widths[i] - cell.chars().count()));
                }
            }
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_three_spaces_apart_and_keep_their_width() {
        let mut columns = Columns::default();
        columns.row(["NAME", "READY", "AGE"]);
        columns.row(["web-1", "1/1", "5s"]);
        assert_eq!(columns.take(), "NAME    READY   AGE\nweb-1   1/1     5s\n");
        columns.row(["a", "b", "c"]);
        assert_eq!(columns.take(), "a       b       c\n");
    }
}
