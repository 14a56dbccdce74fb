//! The sending half of a flow.

use cc_algos::controller::{Cause, Controller, Limit, PathSnapshot};
use cc_algos::ids::PathId;
use cc_algos::signal::{Ecn, Signal};
use cc_algos::units::Timestamp;
use smallvec::SmallVec;

use super::balance::PathView;
use super::code::{BlockError, BlockSender};
use super::config::SenderConfig;
use super::feedback::{Context, earliest};
use super::path::Path;
use super::stats::PathStats;
use super::workspace::Workspace;
use super::{AckError, Content, Gate, Outgoing};
use crate::wire::{AckFrame, BlockAck, Nack, PacketNumberRange};

/// The sending half of a flow: one or more paths, each with packet numbers, RTT, loss detection, pacer and controller of its
/// own.
///
/// Methods that take a [`PathId`] panic if the path does not exist, as indexing does: paths are named by [`Sender::new`],
/// which makes path 0, and by [`Sender::add_path`]. Only [`Sender::on_ack`], whose path comes from the peer, returns an
/// error.
#[derive(Debug)]
pub struct Sender<C> {
    config: SenderConfig,
    paths: SmallVec<[Path<C>; 1]>,
    /// The other paths, while one of several works.
    siblings: Vec<PathSnapshot>,
    /// Blocks span paths. `None` if the flow is not coded.
    blocks: Option<Box<BlockSender<C>>>,
}

impl<C: Content> Sender<C> {
    /// Tokens are copied into each record.
    const CONTENT_FITS: () = assert!(size_of::<C>() <= 16, "a content token has at most 16 bytes");

    /// A flow that begins at `now` on path 0.
    pub fn new(config: SenderConfig, controller: Box<dyn Controller>, now: Timestamp) -> Self {
        let () = Self::CONTENT_FITS;
        let path = Path::new(PathId(0), &config, controller, now);
        let mut paths = SmallVec::new();
        paths.push(path);
        let blocks = config.coding.map(|coding| Box::new(BlockSender::new(coding)));
        Self { config, paths, siblings: Vec::new(), blocks }
    }

    /// Adds a path with a controller of its own.
    pub fn add_path(&mut self, controller: Box<dyn Controller>, now: Timestamp) -> PathId {
        let id = PathId(self.paths.len() as u16);
        self.paths.push(Path::new(id, &self.config, controller, now));
        id
    }

    /// The paths.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = PathId> + use<C> {
        (0..self.paths.len() as u16).map(PathId)
    }

    /// Whether a packet of `bytes` may leave now. Ask only if there is one to send: the answer is taken as what stopped the
    /// sender.
    #[inline]
    pub fn gate(&mut self, now: Timestamp, path: PathId, bytes: u64) -> Gate {
        self.path_mut(path).gate(now, bytes)
    }

    /// A packet leaves, whether or not the gate was open; returns its number.
    pub fn on_sent(&mut self, now: Timestamp, packet: Outgoing<C>) -> u64 {
        let (path, context) = self.parts(now, packet.path);
        path.resume(now, context.config.pacing, context.siblings);
        let number = path.on_sent(now, &packet, context.siblings);
        if let (Some(place), Some(blocks)) = (packet.block, &mut self.blocks) {
            blocks.on_sent(place, packet.path, number, packet.content);
        }
        number
    }

    /// A packet leaves that asks for no acknowledgement and does not count as in flight, such as one with nothing but
    /// acknowledgements in it; returns its number.
    pub fn on_sent_untracked(&mut self, path: PathId) -> u64 {
        self.path_mut(path).ledger.push_untracked()
    }

    /// There is nothing to send. Say so whenever the data runs out, whatever the gate would say: if the window is full, it
    /// still counts as in use; if only the pacer is in the way, the sender is limited by the application.
    pub fn on_app_limited(&mut self, _now: Timestamp, path: PathId) {
        self.path_mut(path).on_limited(Limit::Application);
    }

    /// Flow control or missing credit of the receiver keeps data back; otherwise as [`Sender::on_app_limited`].
    pub fn on_receiver_limited(&mut self, _now: Timestamp, path: PathId) {
        self.path_mut(path).on_limited(Limit::Receiver);
    }

    /// An acknowledgement arrived.
    ///
    /// # Errors
    ///
    /// One that no honest peer sends is refused and changes nothing.
    pub fn on_ack(&mut self, now: Timestamp, ack: &AckFrame, work: &mut Workspace<C>) -> Result<(), AckError> {
        work.clear();
        if usize::from(ack.path.0) >= self.paths.len() {
            return Err(AckError::UnknownPath(ack.path));
        }
        let (path, context) = self.parts(now, ack.path);
        let taken = path.on_ack(context, ack, work);
        self.settle_blocks(work);
        taken
    }

    /// The receiver says which blocks are complete. Nothing leaves flight by that: take it in before an acknowledgement of the
    /// same packet, so that what that one shows to be lost is known to be recovered.
    ///
    /// # Errors
    ///
    /// One that speaks of blocks of which too little was sent, or of a flow that has none, changes nothing.
    pub fn on_block_ack(&mut self, ack: &BlockAck, work: &mut Workspace<C>) -> Result<(), BlockError> {
        work.clear();
        let blocks = self.blocks.as_mut().ok_or(BlockError::NotCoded(ack.next))?;
        blocks.on_block_ack(ack, &mut work.events)
    }

    /// The receiver complains about a block. Shards that it names are lost, unless they left less than a round trip ago: such
    /// may be under way still. Where that is more than parity makes good, they are to be sent again.
    ///
    /// # Errors
    ///
    /// A complaint about what was not sent, or of a flow without blocks, changes nothing.
    pub fn on_block_nack(&mut self, now: Timestamp, nack: &Nack, work: &mut Workspace<C>) -> Result<(), BlockError> {
        work.clear();
        let blocks = self.blocks.as_ref().ok_or(BlockError::NotCoded(nack.block))?;
        blocks.on_nack(nack, &mut work.named)?;
        let (named, mut missing) = (core::mem::take(&mut work.named), core::mem::take(&mut work.missing));
        for id in self.paths() {
            let (path, context) = self.parts(now, id);
            let numbers = named.iter().filter(|(path, _)| *path == id).map(|(_, number)| *number);
            missing.clear();
            missing.extend(numbers.filter(|number| path.is_overdue(now, *number)).map(PacketNumberRange::single));
            path.on_missing(context, Cause::BlockNack, &missing, work);
        }
        (work.named, work.missing) = (named, missing);
        self.settle_blocks(work);
        Ok(())
    }

    /// The blocks of the flow, if it is coded.
    #[inline]
    pub fn blocks(&self) -> Option<&BlockSender<C>> {
        self.blocks.as_deref()
    }

    /// The blocks of the flow, to ask what leaves next.
    #[inline]
    pub fn blocks_mut(&mut self) -> Option<&mut BlockSender<C>> {
        self.blocks.as_deref_mut()
    }

    #[inline]
    fn settle_blocks(&mut self, work: &mut Workspace<C>) {
        if let Some(blocks) = &mut self.blocks {
            blocks.settle(&mut work.shards, &mut work.events);
        }
    }

    /// Packets of a path are lost, as somebody found out who knows: a receiver that names what it misses
    /// ([`Cause::BlockNack`]; of coded flows, see [`Sender::on_block_nack`]), a switch that trimmed them ([`Cause::Trim`]), or
    /// whoever declares the path dead ([`Cause::PathDead`], with all numbers). What is not in flight is passed over.
    pub fn on_missing(
        &mut self,
        now: Timestamp,
        path: PathId,
        cause: Cause,
        missing: &[PacketNumberRange],
        work: &mut Workspace<C>,
    ) {
        work.clear();
        let (path, context) = self.parts(now, path);
        path.on_missing(context, cause, missing, work);
        self.settle_blocks(work);
    }

    /// The time of [`Sender::next_timeout`] has come, or something like it: calling early does nothing.
    pub fn on_timeout(&mut self, now: Timestamp, work: &mut Workspace<C>) {
        work.clear();
        for path in self.paths() {
            let (path, context) = self.parts(now, path);
            path.on_timeout(context, work);
        }
        self.settle_blocks(work);
    }

    /// When to call [`Sender::on_timeout`]: for the loss timer, a probe timeout or a controller's timer. What the pacer waits
    /// for is told by [`Sender::gate`].
    pub fn next_timeout(&self) -> Option<Timestamp> {
        self.paths.iter().fold(None, |at, path| earliest(at, path.next_timeout()))
    }

    /// A notice arrived apart from acknowledgements, or the path changed under the flow.
    pub fn on_notice(&mut self, now: Timestamp, path: PathId, signal: Signal) {
        let (path, context) = self.parts(now, path);
        path.signal(now, &signal, context.config.pacing, context.siblings);
    }

    /// Probes owed after a timeout: for each the gate is open whatever the limits. New data, data sent again (see
    /// [`Sender::oldest_in_flight`]) or a mere ping may stand in it.
    pub fn probes(&self, path: PathId) -> u32 {
        self.path(path).probes.owed
    }

    /// Content of the oldest packet in flight: what a probe had best carry again if there is nothing new.
    pub fn oldest_in_flight(&self, path: PathId) -> Option<C> {
        self.path(path).ledger.oldest_content()
    }

    /// When the packet of that number was sent, if it is in flight: how old the cause of a switch's notice is.
    pub fn sent_at(&self, path: PathId, packet_number: u64) -> Option<Timestamp> {
        self.path(path).ledger.sent_at(packet_number)
    }

    /// The number that the next packet will bear.
    pub fn next_packet_number(&self, path: PathId) -> u64 {
        self.path(path).ledger.next_number()
    }

    /// The largest number that was acknowledged.
    pub fn largest_acked(&self, path: PathId) -> Option<u64> {
        self.path(path).largest_acked
    }

    /// A number below which everything is settled, to be sent to the receiver so that it can forget the gaps below: at most
    /// once per round trip, and only while it reports such gaps.
    pub fn ack_floor(&mut self, now: Timestamp, path: PathId) -> Option<u64> {
        self.path_mut(path).ack_floor(now)
    }

    /// The ECN codepoint of the next packet.
    pub fn ecn(&self, path: PathId) -> Ecn {
        self.path(path).codepoint()
    }

    /// A path's controller.
    pub fn controller(&self, path: PathId) -> &dyn Controller {
        &*self.path(path).controller
    }

    /// Puts another controller in charge of a live path and returns the former one.
    ///
    /// Bytes in flight stay in flight: if the new window is smaller, sending pauses until enough of them are settled. Build
    /// the new controller from [`Controller::handover`] of the old one to start where that was.
    pub fn replace_controller(
        &mut self,
        now: Timestamp,
        path: PathId,
        controller: Box<dyn Controller>,
    ) -> Box<dyn Controller> {
        let pacing = self.config.pacing;
        self.path_mut(path).replace_controller(now, controller, pacing)
    }

    /// A picture of a path.
    pub fn stats(&self, path: PathId) -> PathStats {
        self.path(path).stats()
    }

    /// A path as its balancer sees it.
    #[inline]
    pub fn view(&self, now: Timestamp, path: PathId) -> PathView {
        self.path(path).view(now)
    }

    /// Reads a little of each part of a path that an acknowledgement needs, and says nothing by the result. For a driver
    /// that has more flows than the cache holds, and knows whose turn comes next.
    #[inline]
    pub fn touch(&self, path: PathId) -> u64 {
        self.path(path).touch()
    }

    /// As [`Sender::touch`], for what is kept of the packet of that number.
    #[inline]
    pub fn touch_packet(&self, path: PathId, packet_number: u64) -> u64 {
        self.path(path).ledger.touch_packet(packet_number)
    }

    /// What this sender was made from.
    pub const fn config(&self) -> &SenderConfig {
        &self.config
    }

    fn path(&self, path: PathId) -> &Path<C> {
        &self.paths[usize::from(path.0)]
    }

    fn path_mut(&mut self, path: PathId) -> &mut Path<C> {
        &mut self.paths[usize::from(path.0)]
    }

    /// A path, and all around it that it needs to work.
    #[inline]
    fn parts(&mut self, now: Timestamp, path: PathId) -> (&mut Path<C>, Context<'_>) {
        let Self { config, paths, siblings, blocks } = self;
        if paths.len() > 1 {
            siblings.clear();
            siblings.extend(paths.iter().filter(|other| other.id != path).map(Path::snapshot));
        }
        let complete = blocks.as_deref().map(BlockSender::complete);
        (&mut paths[usize::from(path.0)], Context { now, config, siblings, int: &[], complete })
    }
}
