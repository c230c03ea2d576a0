//! The settings of image garbage collection.

use ferry_api::rules::duration::GoDuration;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageGcSettings {
    /// Images are collected once the disk is as full as this.
    pub image_gc_high_threshold_percent: i32,
    /// Collecting ends when the disk is no fuller than this.
    pub image_gc_low_threshold_percent: i32,
    /// An image just pulled may be about to be used.
    pub image_minimum_gc_age: GoDuration,
    /// An image that is unused for longer goes, however much room there is; zero for never.
    pub image_maximum_gc_age: GoDuration,
}

impl Default for ImageGcSettings {
    fn default() -> Self {
        Self {
            image_gc_high_threshold_percent: 85,
            image_gc_low_threshold_percent: 80,
            image_minimum_gc_age: GoDuration(Duration::from_secs(120).as_nanos() as i64),
            image_maximum_gc_age: GoDuration(0),
        }
    }
}

impl ImageGcSettings {
    pub fn validate(&self) -> Vec<String> {
        let Self {
            image_gc_high_threshold_percent: high,
            image_gc_low_threshold_percent: low,
            image_minimum_gc_age: min,
            image_maximum_gc_age: max,
        } = self;
        let mut errors = Vec::new();
        let mut error = |text: String| errors.push(format!("invalid configuration: {text}"));
        let percent = |value: &i32| (0..=100).contains(value);
        if !percent(high) {
            error(format!(
                "imageGCHighThresholdPercent (--image-gc-high-threshold) {high} must be between 0 and 100, inclusive"
            ));
        }
        if !percent(low) {
            error(format!(
                "imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be between 0 and 100, inclusive"
            ));
        }
        if low >= high {
            error(format!(
                "imageGCLowThresholdPercent (--image-gc-low-threshold) {low} must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) {high}"
            ));
        }
        if min.0 < 0 {
            error(format!("imageMinimumGCAge {} must not be negative", super::text(*min)));
        }
        if max.0 < 0 {
            error(format!("imageMaximumGCAge {} must not be negative", super::text(*max)));
        }
        if max.0 > 0 && max.0 <= min.0 {
            error(format!(
                "imageMaximumGCAge {} must be greater than imageMinimumGCAge {}",
                super::text(*max),
                super::text(*min)
            ));
        }
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_named_in_upstreams_words() {
        assert_eq!(ImageGcSettings::default().validate(), Vec::<String>::new());
        let second = 1_000_000_000;
        let wrong = ImageGcSettings {
            image_gc_high_threshold_percent: 101,
            image_gc_low_threshold_percent: -1,
            image_minimum_gc_age: GoDuration(-second),
            image_maximum_gc_age: GoDuration(-2 * second),
        };
        assert_eq!(
            wrong.validate(),
            [
                "invalid configuration: imageGCHighThresholdPercent (--image-gc-high-threshold) 101 must be between 0 and 100, inclusive",
                "invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) -1 must be between 0 and 100, inclusive",
                "invalid configuration: imageMinimumGCAge -1s must not be negative",
                "invalid configuration: imageMaximumGCAge -2s must not be negative",
            ]
        );
        let crossed = ImageGcSettings {
            image_gc_low_threshold_percent: 85,
            image_maximum_gc_age: GoDuration(120 * second),
            ..ImageGcSettings::default()
        };
        assert_eq!(
            crossed.validate(),
            [
                "invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) 85 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85",
                "invalid configuration: imageMaximumGCAge 2m0s must be greater than imageMinimumGCAge 2m0s",
            ]
        );
    }
}
