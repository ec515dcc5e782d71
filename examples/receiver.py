# A receiver of webhooks. Start it with WEBHOOK_SECRET=whsec_…, or with both secrets and a comma between them while you
# rotate; PORT, else 8080, is where it listens.
import hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# An empty secret is one that everybody knows.
secrets = [secret for secret in os.environ.get("WEBHOOK_SECRET", "").split(",") if secret]
if not secrets:
    raise SystemExit("WEBHOOK_SECRET is not set")
seen = set()  # in earnest: a table with a unique key


def is_genuine(headers, raw_body):
    timestamp = headers.get("X-Webhook-Timestamp", "")
    # Digits of other scripts are digits too, and int() refuses thousands of them.
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 20):
        return False
    if abs(time.time() - int(timestamp)) > 300:
        return False
    given = headers.get("X-Webhook-Signature", "").encode()
    signed = timestamp.encode() + b"." + raw_body
    return any(
        hmac.compare_digest(given, b"v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode())
        for secret in secrets
    )


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        genuine = is_genuine(self.headers, raw_body)
        self.send_response(204 if genuine else 401)
        self.end_headers()
        delivery = self.headers.get("X-Webhook-Delivery")
        if genuine and delivery not in seen:
            seen.add(delivery)
            event = json.loads(raw_body)
            print(event["event"], (event.get("message") or {}).get("text"), flush=True)


ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Receiver).serve_forever()
