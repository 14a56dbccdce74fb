//! Published flow-size distributions, with their sources.

use super::sizes::SizeDistribution;

/// A distribution from the literature. The curves are read off published figures, so that they are as exact as those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// Web search: Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM'10, figure 4; mean 1.7 MB.
    WebSearch,
    /// Data mining: Greenberg et al., "VL2", SIGCOMM'09, figure 2; mean 12.7 MB with straight lines
    /// between its points, half of the flows below 1.1 kB.
    DataMining,
    /// Hadoop at Facebook: Roy et al., "Inside the Social Network's (Datacenter) Network", SIGCOMM'15, figure 6; mean 120 kB.
    Hadoop,
    /// All applications at Google in 2008, as workload W3 of Montazeri et al., "Homa", SIGCOMM'18, figure 1; mean 2.9 kB.
    Rpc,
    /// Storage at Alibaba in 2019, from Li et al., "HPCC", SIGCOMM'19, as its simulator ships it; mean 41 kB.
    AliStorage,
}

impl Published {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::WebSearch, Self::DataMining, Self::Hadoop, Self::Rpc, Self::AliStorage];

    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WebSearch => "web-search",
            Self::DataMining => "data-mining",
            Self::Hadoop => "hadoop",
            Self::Rpc => "rpc",
            Self::AliStorage => "ali-storage",
        }
    }

    /// Where it comes from.
    pub const fn source(self) -> &'static str {
        match self {
            Self::WebSearch => "DCTCP, SIGCOMM'10, figure 4",
            Self::DataMining => "VL2, SIGCOMM'09, figure 2",
            Self::Hadoop => "Roy et al. (Facebook), SIGCOMM'15, figure 6",
            Self::Rpc => "Google 2008, W3 of Homa, SIGCOMM'18, figure 1",
            Self::AliStorage => "Alibaba storage 2019, HPCC, SIGCOMM'19",
        }
    }

    /// The one of this name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|published| published.name() == name)
    }

    /// The curve.
    pub fn distribution(self) -> SizeDistribution {
        SizeDistribution::from_table(match self {
            Self::WebSearch => WEB_SEARCH,
            Self::DataMining => DATA_MINING,
            Self::Hadoop => HADOOP,
            Self::Rpc => RPC,
            Self::AliStorage => ALI_STORAGE,
        })
    }
}

/// (bytes, cumulative percent) throughout.
type Table = &'static [(u64, f64)];

const WEB_SEARCH: Table = &[
    (0, 0.0),
    (10_000, 15.0),
    (20_000, 20.0),
    (30_000, 30.0),
    (50_000, 40.0),
    (80_000, 53.0),
    (200_000, 60.0),
    (1_000_000, 70.0),
    (2_000_000, 80.0),
    (5_000_000, 90.0),
    (10_000_000, 97.0),
    (30_000_000, 100.0),
];

const DATA_MINING: Table = &[
    (0, 0.0),
    (180, 10.0),
    (216, 20.0),
    (560, 30.0),
    (900, 40.0),
    (1_100, 50.0),
    (1_870, 60.0),
    (3_160, 70.0),
    (10_000, 80.0),
    (400_000, 90.0),
    (3_160_000, 95.0),
    (100_000_000, 98.0),
    (1_000_000_000, 100.0),
];

const HADOOP: Table = &[
    (0, 0.0),
    (100, 1.0),
    (200, 2.0),
    (300, 5.0),
    (350, 15.0),
    (400, 20.0),
    (500, 30.0),
    (600, 40.0),
    (700, 50.0),
    (1_000, 60.0),
    (2_000, 67.0),
    (7_000, 70.0),
    (30_000, 72.0),
    (50_000, 82.0),
    (80_000, 87.0),
    (120_000, 90.0),
    (300_000, 95.0),
    (1_000_000, 97.5),
    (2_000_000, 99.0),
    (10_000_000, 100.0),
];

/// Thinned to points between which straight lines stay within 2 % of the share of larger flows.
const RPC: Table = &[
    (0, 0.0),
    (3, 6.48826),
    (64, 15.5271),
    (96, 28.6139),
    (171, 42.4737),
    (256, 49.7901),
    (313, 60.2272),
    (402, 70.6643),
    (512, 78.4921),
    (717, 82.9652),
    (1_024, 86.32),
    (1_418, 88.8568),
    (2_048, 90.8862),
    (2_979, 92.517),
    (5_772, 95.1999),
    (7_696, 96.2415),
    (10_496, 97.3259),
    (13_435, 98.0219),
    (16_540, 98.4802),
    (22_851, 98.7925),
    (32_161, 99.0294),
    (46_618, 99.2098),
    (68_188, 99.3557),
    (88_033, 99.5235),
    (112_347, 99.6483),
    (135_671, 99.7219),
    (181_959, 99.787),
    (245_500, 99.8363),
    (338_464, 99.8924),
    (419_979, 99.9239),
    (514_206, 99.9478),
    (586_931, 99.9554),
    (771_224, 99.9665),
    (1_008_790, 99.9748),
    (1_300_034, 99.9808),
    (1_659_327, 99.9854),
    (2_155_839, 99.9892),
    (2_693_059, 99.9917),
    (3_363_608, 99.9937),
    (3_983_524, 99.995),
    (4_672_430, 99.996),
    (5_649_438, 99.997),
    (6_309_051, 99.9975),
    (7_143_054, 99.998),
    (8_231_141, 99.9985),
    (8_909_743, 99.9987),
    (9_710_291, 99.999),
    (10_668_901, 99.9992),
    (11_837_511, 99.9995),
    (13_293_619, 99.9997),
    (15_158_197, 100.0),
];

const ALI_STORAGE: Table = &[
    (0, 0.0),
    (4_000, 22.93),
    (8_000, 69.21),
    (16_000, 80.61),
    (32_000, 90.47),
    (64_000, 93.53),
    (128_000, 96.77),
    (256_000, 97.53),
    (2_000_000, 100.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_those_of_the_tables() {
        // Sum over segments of mid-point times share, worked out apart from this code; RPC: the unthinned table has 2 892 B.
        let expected = [1_711_250.0, 12_658_198.6, 120_420.75, 2_892.0, 40_869.8];
        for (published, mean) in Published::ALL.into_iter().zip(expected) {
            let found = published.distribution().mean();
            let tolerance = if published == Published::Rpc { 0.01 } else { 1e-6 };
            assert!((found / mean - 1.0).abs() < tolerance, "{}: {found}", published.name());
        }
    }

    #[test]
    fn curves_rise_from_nothing_to_everything() {
        for published in Published::ALL {
            let curve = published.distribution();
            assert!(curve.points().windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1));
            assert_eq!(curve.points().first().map(|point| point.1.to_bits()), Some(0.0_f64.to_bits()));
            assert_eq!(curve.points().last().map(|point| point.1.to_bits()), Some(1.0_f64.to_bits()));
            assert_eq!(Published::by_name(published.name()), Some(published));
        }
    }
}
