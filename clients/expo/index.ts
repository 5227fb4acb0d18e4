import { registerGlobals } from "@livekit/react-native";
import { registerRootComponent } from "expo";

registerGlobals(); // before anything uses livekit-client
registerRootComponent(require("./src/app").App);
