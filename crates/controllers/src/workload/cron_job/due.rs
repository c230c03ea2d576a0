//! The times of a CronJob: the run that is due, how many were missed, and the time to look
//! again. Called by plan.rs, and by mod.rs when a schedule changes.
//!
//! Upstream: mostRecentScheduleTime and its callers in pkg/controller/cronjob/utils.go.

use ferry_api::rules::cron::CronSchedule;
use ferry_api::view::batch::v1::CronJobView;
use jiff::Timestamp;
use std::time::Duration;

/// Clocks of machines differ a little: the next look is this much after the scheduled time.
const CLOCK_SKEW: Duration = Duration::from_millis(100);

/// More runs than this are a wrong clock or a long pause, and worth a warning.
const TOO_MANY: i64 = 100;

/// How many runs have passed without being started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missed {
    None,
    Few,
    Many,
}

/// The latest run that should have been started by now, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DueRun {
    pub latest: Option<Timestamp>,
    pub missed: Missed,
}

/// Everything that the times of a CronJob depend on.
pub(super) struct RunTimes<'a> {
    pub schedule: &'a CronSchedule,
    /// The last time that a run was scheduled for, or the creation of the CronJob.
    pub since: Timestamp,
    pub deadline_seconds: Option<i64>,
    pub now: Timestamp,
}

impl<'a> RunTimes<'a> {
    pub(super) fn of(cron_job: CronJobView<'_>, schedule: &'a CronSchedule, now: Timestamp) -> Self {
        let created = cron_job.metadata().creation_timestamp().unwrap_or(now);
        let since = cron_job.status().last_schedule_time().unwrap_or(created);
        Self { schedule, since, deadline_seconds: cron_job.spec().starting_deadline_seconds(), now }
    }

    /// The run that is due. Runs before the starting deadline are not looked for.
    pub(super) fn due(&self) -> Result<DueRun, &'static str> {
        let seconds = self.deadline_seconds.map(|deadline| self.now.as_second().saturating_sub(deadline));
        let earliest = seconds.map_or(self.since, |seconds| self.since.max(at_second(seconds)));
        self.latest_since(earliest)
    }

    /// How long until the run after the latest one; `None` for a schedule that never fires.
    pub(super) fn wait(&self) -> Option<Duration> {
        let from = match self.latest_since(self.since) {
            Ok(DueRun { latest: Some(latest), .. }) => latest,
            Ok(DueRun { missed: Missed::None, .. }) => self.since,
            Ok(_) | Err(_) => self.now,
        };
        let next = self.schedule.next(from)?;
        Some(Duration::try_from(next.duration_since(self.now)).unwrap_or_default() + CLOCK_SKEW)
    }

    /// The number of missed runs is an estimate by the distance of the first two, so that a
    /// clock that is wrong by decades costs no walk through every run of them.
    fn latest_since(&self, earliest: Timestamp) -> Result<DueRun, &'static str> {
        const NEVER: &str = "time difference between two schedules is less than 1 second";
        let first = self.schedule.next(earliest).ok_or(NEVER)?;
        if self.now < first {
            return Ok(DueRun { latest: None, missed: Missed::None });
        }
        let second = self.schedule.next(first).ok_or(NEVER)?;
        if self.now < second {
            return Ok(DueRun { latest: Some(first), missed: Missed::None });
        }
        let period = (second.as_second() - first.as_second()).max(1);
        let count = (self.now.as_second() - first.as_second()) / period + 1;
        // One period is taken back, because periods differ: `30 6-16/4 * * 1-5`.
        let from = at_second(first.as_second().saturating_add((count - 2).saturating_mul(period)));
        let runs = std::iter::successors(self.schedule.next(from), |run| self.schedule.next(*run));
        let latest = runs.take_while(|run| *run <= self.now).last();
        Ok(DueRun { latest, missed: if count > TOO_MANY { Missed::Many } else { Missed::Few } })
    }
}

fn at_second(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap_or(if second < 0 { Timestamp::MIN } else { Timestamp::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    /// The run that is due and the seconds until the next look.
    #[track_caller]
    fn check(
        schedule: &str,
        since: &str,
        deadline: Option<i64>,
        now: &str,
        due: Result<(&str, Missed), &str>,
        wait: Option<u64>,
    ) {
        let parsed = CronSchedule::parse(schedule, TimeZone::UTC).expect("a schedule");
        let times = RunTimes { schedule: &parsed, since: at(since), deadline_seconds: deadline, now: at(now) };
        let expected = due.map(|(latest, missed)| DueRun { latest: (!latest.is_empty()).then(|| at(latest)), missed });
        assert_eq!(times.due(), expected, "{schedule} since {since} at {now}");
        let wait = wait.map(|seconds| Duration::from_secs(seconds) + CLOCK_SKEW);
        assert_eq!(times.wait(), wait, "{schedule} since {since} at {now}");
    }

    #[test]
    fn the_latest_run_is_due_and_the_one_after_it_is_waited_for() {
        use Missed::{Few, Many, None as No};
        let (hourly, day) = ("0 * * * ?", "2026-01-01");
        let on = |time: &str| format!("{day}T{time}Z");
        let check_hourly = |since: &str, deadline, now: &str, latest: &str, missed, wait| {
            let latest = if latest.is_empty() { String::new() } else { on(latest) };
            check(hourly, &on(since), deadline, &on(now), Ok((&latest, missed)), Some(wait));
        };
        check_hourly("09:50:00", None, "09:55:00", "", No, 300);
        check_hourly("09:50:00", None, "10:00:00", "10:00:00", No, 3600);
        check_hourly("09:50:00", None, "10:01:00", "10:00:00", No, 3540);
        check_hourly("10:00:00", None, "10:01:00", "", No, 3540);
        check_hourly("09:50:00", None, "13:01:00", "13:00:00", Few, 3540);
        check_hourly("09:50:00", Some(30), "13:01:00", "", No, 3540);
        check_hourly("09:50:00", Some(120), "13:01:00", "13:00:00", No, 3540);
        check_hourly("09:50:00", Some(i64::MAX), "13:01:00", "13:00:00", Few, 3540);
        let minutes = Ok(("2026-01-01T10:00:00Z", Many));
        check("* * * * *", "1999-01-01T00:00:00Z", None, "2026-01-01T10:00:30Z", minutes, Some(30));
        // Friday evening to Monday morning: the runs are not evenly spaced.
        let uneven = Ok(("2026-01-05T10:30:00Z", Few));
        check("30 6-16/4 * * 1-5", "2026-01-02T06:30:00Z", None, "2026-01-05T11:00:00Z", uneven, Some(3 * 3600 + 1800));
    }

    #[test]
    fn a_period_counts_from_the_last_run() {
        let ready = Ok(("2026-01-01T01:00:07Z", Missed::Few));
        check("@every 20m", "2026-01-01T00:00:07Z", None, "2026-01-01T01:10:00Z", ready, Some(607));
    }

    #[test]
    fn a_schedule_that_never_fires_is_an_error_and_no_timer() {
        let never = Err("time difference between two schedules is less than 1 second");
        check("59 23 31 2 *", "2026-01-01T00:00:00Z", None, "2026-01-01T01:00:00Z", never, None);
    }
}
