import charter.Codec;
import charter.Protocol;
import charter.Protocol.*;
import charter.Sdk;
import java.util.Optional;

public final class Main implements Protocol.Adapter {
    private Given given;

    public static void main(String[] args) throws Exception {
        Protocol.serveSessions(Protocol.about("echo", "1", "load", "image"), Main::new, 3);
    }

    @Override
    public void start(Question question) {
        given = question.given().orElseThrow(() -> new Sdk.NotLoadable("nothing is given"));
    }

    @Override
    public Observation observe() {
        return new Observation(
            given.members(),
            given.sessions(),
            given.orders(),
            given.open(),
            given.colours(),
            given.slots(),
            given.groups());
    }

    @Override
    public Observation image() {
        return observe();
    }

    @Override
    public Epoch next(Order order, Epoch epoch, Cookie cookie, Optional<Session> session) {
        if (cookie.text().equals(Codec.NEVER_ISSUED_TEXT)) {
            throw new Sdk.Fault("NoCookie", "never issued");
        }
        if (cookie.text().equals("broken")) {
            throw new AssertionError("it is broken");
        }
        if (order instanceof ClearAll) {
            throw new Sdk.Unsupported("clear_all");
        }
        return epoch;
    }
}
