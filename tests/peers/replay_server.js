// The CometD project's own server, unmodified, with the Streaming API's replay laid over it as an extension.
// node replay_server.js PORT EVENTS_FILE [TOKEN]      events survive the process in EVENTS_FILE
// POST /ctl {emit: [data, ...], first, token} adds events, purges those below `first`, changes the accepted token.
import fs from "node:fs";
import http from "node:http";
import cometd from "cometd-nodejs-server";

const [port, file, given] = process.argv.slice(2);
const events = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : [];
let token = given ?? null;
let first = 1;

const UNAUTHORISED = "401::Authentication invalid";
const expired = (id) =>
    `400::The replayId {${id}} you provided was invalid.  Please provide a valid ID, ` +
    "-2 to replay all events, or -1 to replay only new events.";

const server = cometd.createCometDServer({timeout: 1500, maxInterval: 3000, interval: 0});
const startOf = (message, channel) => message?.ext?.replay?.[channel.name];

server.addExtension({
    incoming: (_, session, message, done) => {
        const shaking = message.channel === "/meta/handshake";
        if (shaking) {
            message.reply.ext = {replay: true, "payload.format": true};
        }
        if (token !== null && server.context.request.headers.authorization !== `Bearer ${token}`) {
            message.reply.successful = false;
            message.reply.error = shaking ? "403::Handshake denied" : UNAUTHORISED;
            message.reply.advice = {reconnect: "none", interval: 0};
            if (shaking) {
                message.reply.ext.sfdc = {failureReason: UNAUTHORISED};
            }
            return done(null, false);
        }
        return done(null, true);
    },
});

server.policy = {
    canSubscribe: (session, message, channel, done) => {
        const start = startOf(message, channel);
        return done(null, !(start > 0 && start < first - 1));
    },
};

server.addListener("subscribed", (channel, session, message) => {
    const start = startOf(message, channel) ?? -1;
    for (const event of events) {
        const id = event.data.event.replayId;
        if (event.channel === channel.name && start !== -1 && id >= first && id > start) {
            session.deliver(null, channel.name, event.data);
        }
    }
});

// The server words two refusals in its own way whatever an extension says; they are reworded on their way out.
const reworded = (text) =>
    text.replace(/403::subscribe_denied/g, expired("x")).replace(/404::message_deleted/g, UNAUTHORISED);

const control = (request, response) => {
    let text = "";
    request.on("data", (part) => (text += part));
    request.on("end", () => {
        const order = JSON.parse(text);
        first = order.first ?? first;
        token = order.token ?? token;
        for (const event of order.emit ?? []) {
            events.push(event);
        }
        fs.writeFileSync(file, JSON.stringify(events));
        for (const event of order.emit ?? []) {
            // Named anew each time: the server sweeps channels that nobody uses.
            server.createServerChannel(event.channel).publish(null, event.data);
        }
        response.end(JSON.stringify({events: events.length}));
    });
};

const listener = http.createServer((request, response) => {
    if (request.url === "/ctl") {
        return control(request, response);
    }
    const end = response.end.bind(response);
    response.end = (body, ...rest) => {
        if (!body) {
            return end(body, ...rest);
        }
        const text = reworded(body.toString());
        response.setHeader("Content-Length", Buffer.byteLength(text));
        return end(text, ...rest);
    };
    return server.handle(request, response);
});
listener.listen(Number(port), "localhost", () => process.stdout.write(`${listener.address().port}\n`));
