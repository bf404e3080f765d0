package environment

// Admit tells whether work may be started natively in an environment, and from
// what. It is pure: discovery, acquisition and pages all ask it.
func Admit(f AdmissionFacts) Admission { return Admission{} }
