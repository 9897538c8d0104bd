package io.heddle.bgp.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.session.SessionFsm.Side;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.Capability;
import io.heddle.bgp.wire.KeepaliveMessage;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests of the state machine of RFC 4271 §8 with a simulated clock. */
class SessionFsmTest {
  private static final long SECOND = 1_000_000_000L;
  private static final int OUR_ID = 0x0a000005;

  private final List<String> done = new ArrayList<>();
  private final List<BgpMessage> sent = new ArrayList<>();
  private long nowNs = 77;
  private SessionFsm fsm = machine(options());

  private static PeerOptions.Builder options() {
    return PeerOptions.builder("leaf")
        .remote(Prefix.of("fd00::1").address())
        .localAs(65001)
        .remoteAs(65002)
        .routerId(OUR_ID)
        .holdTimeSeconds(9);
  }

  private SessionFsm machine(PeerOptions.Builder options) {
    PeerOptions built = options.build();
    Backoff backoff = new Backoff(SECOND, 8 * SECOND, new Random(1));
    return new SessionFsm(built, () -> nowNs, backoff, new Recorder());
  }

  private final class Recorder implements SessionFsm.Actions {
    @Override
    public void connect() {
      done.add("connect");
    }

    @Override
    public void send(Side side, BgpMessage message) {
      sent.add(message);
      String name = message.getClass().getSimpleName().replace("Message", "");
      done.add(
          side
              + " "
              + (message instanceof NotificationMessage note
                  ? note.code() + "/" + note.subcode()
                  : name));
    }

    @Override
    public void agreed(Side side, Negotiated negotiated) {}

    @Override
    public void close(Side side) {
      done.add(side + " close");
    }

    @Override
    public void established(Side side, Negotiated negotiated) {
      done.add(side + " established");
    }

    @Override
    public void down(SessionEnd end) {
      done.add("down " + end.cause() + (end.kept().isEmpty() ? "" : " kept"));
    }

    @Override
    public void attemptFailed(SessionEnd end) {
      done.add("failed " + end.cause());
    }
  }

  private static OpenMessage open(int as, int id, Capability... more) {
    List<Capability> all = new ArrayList<>(List.of(more));
    all.add(new Capability.Multiprotocol(AddressFamily.IPV6_UNICAST));
    all.add(new Capability.FourOctetAs(as));
    return new OpenMessage(as, 30, id, all, false);
  }

  private void expect(String... actions) {
    assertEquals(List.of(actions), done);
    done.clear();
  }

  private void advance(long ns) {
    for (long end = nowNs + ns; nowNs < end; ) {
      nowNs += Math.min(end - nowNs, Math.max(1, fsm.nextDeadlineNs()));
      fsm.tick();
    }
  }

  private void establish(Side side, Capability... capabilities) {
    fsm.start();
    fsm.connected(side);
    fsm.received(side, open(65002, 1, capabilities));
    fsm.received(side, KeepaliveMessage.INSTANCE);
    assertEquals(SessionState.ESTABLISHED, fsm.state());
    done.clear();
  }

  @Test
  void comesUpThroughAllSixStates() {
    assertEquals(SessionState.IDLE, fsm.state());
    fsm.start();
    assertEquals(SessionState.CONNECT, fsm.state());
    fsm.lost(Side.OUTBOUND, "refused");
    assertEquals(SessionState.ACTIVE, fsm.state());
    expect("connect", "OUTBOUND close", "failed UNREACHABLE");
    advance(SECOND);
    expect("connect");
    fsm.connected(Side.OUTBOUND);
    assertEquals(SessionState.OPEN_SENT, fsm.state());
    expect("OUTBOUND Open");
    assertFalse(fsm.received(Side.OUTBOUND, open(65002, 1)));
    assertEquals(SessionState.OPEN_CONFIRM, fsm.state());
    expect("OUTBOUND Keepalive");
    assertFalse(fsm.received(Side.OUTBOUND, KeepaliveMessage.INSTANCE));
    assertEquals(SessionState.ESTABLISHED, fsm.state());
    expect("OUTBOUND established");
    assertTrue(fsm.received(Side.OUTBOUND, UpdateMessage.END_OF_RIB));
  }

  @Test
  void keepsAliveAtAThirdOfTheSmallerHoldTime() {
    establish(Side.OUTBOUND);
    for (int i = 0; i < 4; i++) {
      advance(3 * SECOND);
      expect("OUTBOUND Keepalive");
      fsm.received(Side.OUTBOUND, KeepaliveMessage.INSTANCE);
    }
    nowNs += 9 * SECOND;
    fsm.tick();
    expect("OUTBOUND 4/0", "OUTBOUND close", "down HOLD_TIMER");
    assertEquals(SessionState.ACTIVE, fsm.state());
    advance(SECOND);
    expect("connect");
  }

  @Test
  void holdTimeZeroNeverExpires() {
    fsm = machine(options().holdTimeSeconds(0));
    establish(Side.OUTBOUND);
    advance(100_000 * SECOND);
    expect();
  }

  @Test
  void backoffGrowsWithEachFailure() {
    fsm.start();
    long last = 0;
    for (int i = 0; i < 6; i++) {
      fsm.lost(Side.OUTBOUND, "refused");
      long waitNs = fsm.retryInNs();
      long whole = Math.min(8, 1L << i) * SECOND;
      assertTrue(waitNs <= whole && waitNs >= whole * 3 / 4, "wait " + i + " is " + waitNs);
      assertTrue(waitNs >= last * 3 / 4);
      last = waitNs;
      advance(waitNs);
    }
  }

  @Test
  void holdTimerEndsASilentSession() {
    fsm.start();
    advance(10 * SECOND);
    assertEquals(List.of("connect", "OUTBOUND close", "failed UNREACHABLE"), done.subList(0, 3));
    done.clear();
    fsm = machine(options());
    fsm.start();
    fsm.connected(Side.OUTBOUND);
    done.clear();
    advance(10 * SECOND);
    expect("OUTBOUND 4/0", "OUTBOUND close", "failed HOLD_TIMER");
  }

  @Test
  void refusesAPeerWithAnotherAs() {
    fsm.start();
    fsm.connected(Side.OUTBOUND);
    done.clear();
    fsm.received(Side.OUTBOUND, open(65009, 1));
    expect("OUTBOUND 2/2", "OUTBOUND close", "failed OPEN_REJECTED");
    advance(2 * SECOND);
    fsm.connected(Side.OUTBOUND);
    done.clear();
    fsm.received(Side.OUTBOUND, new OpenMessage(65002, 9, 1, List.of(), false));
    expect("OUTBOUND 2/7", "OUTBOUND close", "failed OPEN_REJECTED");
    NotificationMessage last = (NotificationMessage) sent.getLast();
    assertEquals(List.of((byte) 1, (byte) 4), List.of(last.body()[0], last.body()[1]));
  }

  @Test
  void unsetRemoteAsAcceptsAnyAsButOurs() {
    fsm = machine(options().remoteAs(0));
    fsm.start();
    fsm.connected(Side.OUTBOUND);
    done.clear();
    fsm.received(Side.OUTBOUND, open(65001, 1));
    expect("OUTBOUND 2/2", "OUTBOUND close", "failed OPEN_REJECTED");
  }

  @Test
  void connectionOfTheHigherIdentifierStays() {
    for (boolean oursIsHigher : new boolean[] {true, false}) {
      for (boolean oursIsFirst : new boolean[] {true, false}) {
        fsm = machine(options());
        int peerId = oursIsHigher ? OUR_ID - 1 : OUR_ID + 1;
        fsm.start();
        fsm.connected(Side.OUTBOUND);
        assertTrue(fsm.acceptsConnection());
        fsm.connected(Side.INBOUND);
        Side first = oursIsFirst ? Side.OUTBOUND : Side.INBOUND;
        Side second = oursIsFirst ? Side.INBOUND : Side.OUTBOUND;
        fsm.received(first, open(65002, peerId));
        done.clear();
        fsm.received(second, open(65002, peerId));
        Side stays = oursIsHigher ? Side.OUTBOUND : Side.INBOUND;
        Side goes = oursIsHigher ? Side.INBOUND : Side.OUTBOUND;
        assertTrue(done.contains(goes + " 6/7") && done.contains(goes + " close"), done.toString());
        assertEquals(SessionState.OPEN_CONFIRM, fsm.state());
        done.clear();
        fsm.received(stays, KeepaliveMessage.INSTANCE);
        expect(stays + " established");
      }
    }
  }

  @Test
  void establishedSessionSurvivesANewConnection() {
    establish(Side.OUTBOUND);
    assertFalse(fsm.acceptsConnection());
    assertEquals(SessionState.ESTABLISHED, fsm.state());
  }

  @Test
  void restartedPeersConnectionReplacesTheOldOne() {
    establish(Side.OUTBOUND, restart(false));
    assertTrue(fsm.acceptsConnection());
    expect("OUTBOUND close", "down CONNECTION_LOST kept");
    fsm.connected(Side.INBOUND);
    fsm.received(Side.INBOUND, open(65002, 1, restart(false)));
    fsm.received(Side.INBOUND, KeepaliveMessage.INSTANCE);
    assertEquals(SessionState.ESTABLISHED, fsm.state());
  }

  private static Capability restart(boolean notifications) {
    return new Capability.GracefulRestart(
        false,
        notifications,
        120,
        List.of(new Capability.GracefulRestart.Kept(AddressFamily.IPV6_UNICAST, true)));
  }

  @Test
  void routesAreKeptOnlyAfterAnEndThatAllowsIt() {
    establish(Side.OUTBOUND, restart(false));
    fsm.received(Side.OUTBOUND, new NotificationMessage(6, 4));
    expect("OUTBOUND close", "down NOTIFICATION_RECEIVED");
    fsm = machine(options());
    establish(Side.OUTBOUND, restart(true));
    fsm.received(Side.OUTBOUND, new NotificationMessage(6, 4));
    expect("OUTBOUND close", "down NOTIFICATION_RECEIVED kept");
    fsm = machine(options());
    establish(Side.OUTBOUND, restart(true));
    fsm.received(Side.OUTBOUND, new NotificationMessage(6, 9));
    expect("OUTBOUND close", "down HARD_RESET");
    fsm = machine(options().gracefulRestart(false));
    establish(Side.OUTBOUND, restart(true));
    fsm.lost(Side.OUTBOUND, "reset");
    expect("OUTBOUND close", "down CONNECTION_LOST");
    fsm = machine(options());
    establish(Side.OUTBOUND, restart(true));
    fsm.pathDown(SessionEnd.Cause.BFD, "3 packets missed");
    expect("OUTBOUND 6/10", "OUTBOUND close", "down BFD");
  }

  @Test
  void messageInTheWrongStateEndsTheAttempt() {
    fsm.start();
    fsm.connected(Side.OUTBOUND);
    done.clear();
    fsm.received(Side.OUTBOUND, UpdateMessage.END_OF_RIB);
    expect("OUTBOUND 5/1", "OUTBOUND close", "failed PEER_MALFORMED");
    assertFalse(fsm.acceptsConnection(), "idle after a fault");
  }

  @Test
  void peerThatWantsLongParametersGetsThem() {
    fsm.start();
    fsm.connected(Side.OUTBOUND);
    assertFalse(((OpenMessage) sent.getLast()).extendedParameters());
    fsm.received(Side.OUTBOUND, new NotificationMessage(2, 0));
    advance(SECOND);
    fsm.connected(Side.OUTBOUND);
    assertTrue(((OpenMessage) sent.getLast()).extendedParameters());
  }

  @Test
  void takesThePeersConnectionAfterOursWasLost() {
    fsm.start();
    fsm.connected(Side.OUTBOUND);
    done.clear();
    fsm.lost(Side.OUTBOUND, "closed");
    expect("OUTBOUND close", "failed CONNECTION_LOST");
    assertEquals(SessionState.ACTIVE, fsm.state());
    assertTrue(fsm.acceptsConnection());
  }

  @Test
  void stopSendsReasonAndStaysIdle() {
    establish(Side.OUTBOUND);
    fsm.stop(NotificationMessage.cease(NotificationMessage.ADMINISTRATIVE_SHUTDOWN, "maintenance"));
    expect("OUTBOUND 6/2", "OUTBOUND close", "down STOPPED");
    advance(100 * SECOND);
    expect();
    assertEquals(SessionState.IDLE, fsm.state());
    assertFalse(fsm.acceptsConnection());
  }

  @Test
  void passiveSideOnlyWaits() {
    fsm = machine(options().passive(true));
    fsm.start();
    assertEquals(SessionState.ACTIVE, fsm.state());
    advance(100 * SECOND);
    expect();
    assertTrue(fsm.acceptsConnection());
    fsm.connected(Side.INBOUND);
    expect();
    fsm.received(Side.INBOUND, open(65002, 1));
    expect("INBOUND Open", "INBOUND Keepalive");
  }
}
