// The CometD project's own client, unmodified: handshake, subscribe with replay, print each delivery, leave after `count`.
// node listen.js URL TOKEN CHANNEL REPLAY COUNT
import {adapt} from "cometd-nodejs-client";
import {CometD} from "cometd";

const [url, token, channel, replay, count] = process.argv.slice(2);

// The client logs to the console; standard output is for facts alone.
globalThis.console = new console.Console(process.stderr, process.stderr);
adapt();
const client = new CometD();
const say = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`);
let received = 0;

client.configure({url, requestHeaders: {Authorization: `Bearer ${token}`}});
client.unregisterTransport("websocket");
client.unregisterTransport("callback-polling");
client.addListener("/meta/handshake", (reply) => say({handshake: reply}));
client.handshake((handshaken) => {
    if (!handshaken.successful) {
        process.exit(1);
    }
    client.subscribe(
        channel,
        (delivery) => {
            say({delivery});
            received += 1;
            if (received === Number(count)) {
                client.disconnect((goodbye) => {
                    say({goodbye});
                    process.exit(0);
                });
            }
        },
        {ext: {replay: {[channel]: Number(replay)}}},
        (subscribed) => say({subscribed}),
    );
});
