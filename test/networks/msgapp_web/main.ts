import { type NetworkPlaces, serveControl } from './control.ts';
import { FakeNetwork } from './network.ts';

/** The fake network as a process of its own; its first line says where it is, as JSON. */
const network = await FakeNetwork.start();
const control = await serveControl(network);
const places: NetworkPlaces = {
  url: network.url,
  rootPublicKey: network.rootPublicKey,
  control: control.url,
  media: network.mediaPlace,
};
console.log(JSON.stringify(places));
