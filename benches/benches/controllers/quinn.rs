//! quinn-proto's controllers on the same tapes.
//!
//! They want an `RttEstimator`, which only a connection makes: a client shakes hands with a server over a path in memory, and
//! its controller keeps the estimator that it is shown.

use std::any::Any;
use std::error::Error;
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cc_algos::Timestamp;
use quinn_proto::congestion::{BbrConfig, Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::rustls::RootCertStore;
use quinn_proto::rustls::pki_types::PrivateKeyDer;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Endpoint, EndpointConfig, RttEstimator, ServerConfig,
    TransportConfig,
};
use testkit::observe::Call;

use crate::scene::MTU;
use crate::tape::Tape;

/// Half of the wide area's base RTT.
const ONE_WAY: Duration = Duration::from_millis(10);

/// A controller of quinn-proto, with the algorithm here whose tapes it is played.
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    pub(crate) tape_of: &'static str,
    build: fn(Instant) -> Box<dyn Controller>,
}

/// All that quinn-proto has.
pub(crate) const PEERS: [Peer; 3] = [
    Peer { name: "quinn-proto NewReno", tape_of: "newreno", build: |now| make(NewRenoConfig::default(), now) },
    Peer { name: "quinn-proto Cubic", tape_of: "cubic", build: |now| make(CubicConfig::default(), now) },
    Peer { name: "quinn-proto Bbr", tape_of: "bbr", build: |now| make(BbrConfig::default(), now) },
];

fn make(factory: impl ControllerFactory, now: Instant) -> Box<dyn Controller> {
    Arc::new(factory).build(now, MTU as u16)
}

/// A played tape with what quinn-proto's types ask for.
pub(crate) struct Stage {
    epoch: Instant,
    rtt: RttEstimator,
}

impl Stage {
    #[expect(clippy::disallowed_methods, reason = "an `Instant` comes from nowhere else; only differences count")]
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let epoch = Instant::now();
        Ok(Self { epoch, rtt: measured_rtt(epoch)? })
    }

    /// A controller that has lived through all that comes before the tape.
    pub(crate) fn build(&self, peer: &Peer, tape: &Tape) -> Box<dyn Controller> {
        let mut controller = (peer.build)(self.epoch);
        tape.visit_lead(|call| self.call(call, &mut *controller));
        controller
    }

    /// A controller that does nothing: what playing costs.
    pub(crate) fn idle(&self) -> Box<dyn Controller> {
        Box::new(Idle)
    }

    /// Makes the calls that quinn's connection would make.
    pub(crate) fn play(&self, tape: &Tape, controller: &mut dyn Controller) {
        tape.visit(|call| self.call(call, controller));
    }

    fn call(&self, call: &Call<'_>, controller: &mut dyn Controller) {
        let at = |time: Timestamp| self.epoch + Duration::from_nanos(time.as_nanos());
        match call {
            Call::Sent(sent, _) => controller.on_sent(at(sent.now), u64::from(sent.bytes), sent.packet_number),
            Call::Feedback(feedback, flight) => {
                let now = at(feedback.now);
                let app_limited = !flight.limit.allows_growth();
                for packet in feedback.acked {
                    controller.on_ack(now, at(packet.sent_at), u64::from(packet.bytes), app_limited, &self.rtt);
                }
                if let Some(newest) = feedback.acked.last() {
                    controller.on_end_acks(now, flight.bytes, app_limited, Some(newest.packet_number));
                }
                if let Some(newest) = feedback.lost.last() {
                    let persistent = feedback.persistent_congestion.is_some();
                    controller.on_congestion_event(now, at(newest.sent_at), persistent, feedback.newly_lost.bytes);
                }
                black_box(controller.window());
            }
            _ => {}
        }
    }
}

/// What quinn-proto asks of every controller and these two have no answer to.
macro_rules! inert {
    () => {
        fn on_congestion_event(&mut self, _now: Instant, _sent: Instant, _persistent: bool, _lost_bytes: u64) {}

        fn on_mtu_update(&mut self, _new_mtu: u16) {}

        fn window(&self) -> u64 {
            self.initial_window()
        }

        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }

        fn initial_window(&self) -> u64 {
            10 * MTU
        }

        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    };
}

/// Does nothing.
#[derive(Clone)]
struct Idle;

impl Controller for Idle {
    inert!();
}

/// Keeps the estimator that it is shown.
#[derive(Clone, Default)]
struct Listener {
    shown: Arc<Mutex<Option<RttEstimator>>>,
}

impl Controller for Listener {
    fn on_ack(&mut self, _now: Instant, _sent: Instant, _bytes: u64, _app_limited: bool, rtt: &RttEstimator) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(*rtt);
    }

    inert!();
}

impl ControllerFactory for Listener {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        self.clone_box()
    }
}

/// One end of a connection.
struct End {
    address: SocketAddr,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
}

impl End {
    fn new(port: u16, server: Option<ServerConfig>) -> Self {
        let endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), server.map(Arc::new), false, None);
        Self { address: (Ipv4Addr::LOCALHOST, port).into(), endpoint, connection: None }
    }

    /// Takes datagrams of the other end, and gives those that it sends.
    fn turn(&mut self, now: Instant, from: SocketAddr, arrived: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let mut buffer = Vec::new();
        for datagram in arrived {
            match self.endpoint.handle(now, from, None, None, datagram.as_slice().into(), &mut buffer) {
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = self.endpoint.accept(incoming, now, &mut buffer, None);
                    self.connection = Some(accepted.map_err(|error| error.cause)?);
                }
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    let (_, connection) = self.connection.as_mut().ok_or("an event of no connection")?;
                    connection.handle_event(event);
                }
                _ => {}
            }
        }
        let (handle, connection) = self.connection.as_mut().ok_or("no connection has begun")?;
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut sent = Vec::new();
        buffer.clear();
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut buffer) {
            sent.push(buffer[..transmit.size].to_vec());
            buffer.clear();
        }
        Ok(sent)
    }
}

/// What a client has learnt of the RTT when a handshake is over.
fn measured_rtt(epoch: Instant) -> Result<RttEstimator, Box<dyn Error>> {
    let listener = Listener::default();
    let shown = Arc::clone(&listener.shown);
    let key = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let private = PrivateKeyDer::try_from(key.signing_key.serialize_der())?;
    let mut roots = RootCertStore::empty();
    roots.add(key.cert.der().clone())?;
    let mut server = End::new(4_433, Some(ServerConfig::with_single_cert(vec![key.cert.der().clone()], private)?));
    let mut client = End::new(4_434, None);
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(listener));
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    client.connection = Some(client.endpoint.connect(epoch, config, server.address, "localhost")?);
    let (mut now, mut datagrams) = (epoch, Vec::new());
    for _ in 0..8 {
        datagrams = client.turn(now, server.address, &datagrams)?;
        now += ONE_WAY;
        datagrams = server.turn(now, client.address, &datagrams)?;
        now += ONE_WAY;
    }
    let rtt = *shown.lock().unwrap_or_else(PoisonError::into_inner);
    rtt.ok_or_else(|| "the handshake measured no RTT".into())
}
