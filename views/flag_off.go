package views

// FlagOffState is whether the switch is offered.
type FlagOffState string

// The states of the page of a feature that is off.
const (
	FlagOffSwitch FlagOffState = "switch"
	FlagOffAsk    FlagOffState = "ask"
)

// FlagOffProps says that environments are off.
type FlagOffProps struct {
	state FlagOffState
	back  string
}

// NewFlagOff makes it; back is where the switch leads.
func NewFlagOff(mayManage bool, back string) FlagOffProps {
	if mayManage {
		return FlagOffProps{state: FlagOffSwitch, back: back}
	}
	return FlagOffProps{state: FlagOffAsk, back: back}
}

func flagOffText(s FlagOffState) string {
	if s == FlagOffSwitch {
		return "With them, work can be sent to machines other than this server: over SSH now, in sandboxes later. Nothing is sent anywhere until you say so."
	}
	return "An instance admin can turn them on under Instance, Experimental."
}
