/** A certificate that nobody signed but itself, for `hooks.test` and 127.0.0.1, good until 2120. PEM. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBSjCB8aADAgECAgEBMAoGCCqGSM49BAMCMBUxEzARBgNVBAMMCmhvb2tzLnRl
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBUxEzARBgNVBAMM
Cmhvb2tzLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATq13HxWdZI4pwa
oiS5Qy+oeMo49gTl1pkbs1L0fVr/DCvF/u/y0ZqolCaCYfxtr/7rKhzPuzPZjS3K
FfuIQyUVozAwLjAbBgNVHREEFDASggpob29rcy50ZXN0hwR/AAABMA8GA1UdEwEB
/wQFMAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIgbStkN5KaqC5nX8+xjg/zjeI7eNxR
zGMtS8bFAd9bnwUCIQCbkf3asrlY+4cVGlG9JblyDvCDIbKllBGanQ8qjTQFrg==
-----END CERTIFICATE-----
`;

/** Its key. It guards nothing: the certificate is trusted by tests only. PEM. */
export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWJy+y7WKb5N841Yf
10A4zo1gUJp2L1zaFuy85YnGvayhRANCAATq13HxWdZI4pwaoiS5Qy+oeMo49gTl
1pkbs1L0fVr/DCvF/u/y0ZqolCaCYfxtr/7rKhzPuzPZjS3KFfuIQyUV
-----END PRIVATE KEY-----
`;
