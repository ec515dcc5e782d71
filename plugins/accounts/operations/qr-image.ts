/** A QR code as a PNG picture in a data: address. */
export async function qrImage(data: string): Promise<string> {
  const { toDataURL } = await import('qrcode');
  return await toDataURL(data, { type: 'image/png', margin: 4, scale: 6 });
}
