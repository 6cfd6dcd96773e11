// A Pub/Sub API client of npm, unmodified: subscribe, print each event as it was decoded, leave after `count`.
// node listen_pubsub.js HOST:PORT TOKEN ORG TOPIC REPLAY COUNT [PUBLISHED]
// REPLAY is a replay id or "earliest"; PUBLISHED is a platform event's JSON, published to the topic once subscribed.
import PubSubApiClient from "salesforce-pubsub-api-client";

const [pubSubEndpoint, accessToken, organizationId, topic, replay, count, published] = process.argv.slice(2);
const say = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`);
let received = 0;

const client = new PubSubApiClient(
    {
        authType: "user-supplied",
        accessToken,
        instanceUrl: "https://localhost",
        organizationId,
        pubSubEndpoint,
        rejectUnauthorizedSsl: false,
    },
    {debug() {}, info() {}, warn: console.error, error: console.error},
);
const hear = (subscription, kind, told) => {
    if (kind !== "event") {
        say({kind, told: String(told)});
        return;
    }
    say({event: told});
    received += 1;
    if (received === Number(count)) {
        client.close();
        process.exit(0);
    }
};
await client.connect();
if (replay === "earliest") {
    client.subscribeFromEarliestEvent(topic, hear, Number(count));
} else {
    client.subscribeFromReplayId(topic, hear, Number(count), Number(replay));
}
if (published !== undefined) {
    const {replayId} = await client.publish(topic, JSON.parse(published));
    say({published: replayId});
}
