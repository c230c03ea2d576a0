//! Which ports of every node Services have (service/portallocator upstream).

use super::allocation::Allocation;

/// The range that upstream opens by default; both ends belong to it.
const FIRST: u16 = 30_000;
const LAST: u16 = 32_767;

#[derive(Debug)]
pub(super) struct NodePorts(Allocation);

impl Default for NodePorts {
    fn default() -> Self {
        Self(Allocation::new(u32::from(LAST - FIRST) + 1))
    }
}

impl NodePorts {
    pub(super) fn take(&mut self, port: u16) -> Result<(), String> {
        if !(FIRST..=LAST).contains(&port) {
            return Err(format!("provided port is not in the valid range. The range of valid ports is {FIRST}-{LAST}"));
        }
        if self.0.take(u32::from(port - FIRST)) { Ok(()) } else { Err("provided port is already allocated".into()) }
    }

    pub(super) fn take_any(&mut self) -> Result<u16, String> {
        let offset = self.0.take_any().ok_or("range is full")?;
        Ok(FIRST + u16::try_from(offset).unwrap_or(0))
    }

    pub(super) fn release(&mut self, port: u16) {
        if let Some(offset) = port.checked_sub(FIRST) {
            self.0.release(u32::from(offset));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_outside_the_range_are_refused() {
        let mut ports = NodePorts::default();
        assert_eq!(
            ports.take(80),
            Err("provided port is not in the valid range. The range of valid ports is 30000-32767".into())
        );
        assert_eq!(ports.take(30_000), Ok(()));
        assert_eq!(ports.take(30_000), Err("provided port is already allocated".into()));
        assert_eq!(ports.take(32_767), Ok(()));
        ports.release(30_000);
        assert_eq!(ports.take(30_000), Ok(()));
    }
}
